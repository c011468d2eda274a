"""The database's own guards, in both dialects: whoever writes, the journal only grows, in balance.

An entry's postings are written before the entry itself, whose insertion checks that they sum to
zero and seals them: no posting can join a sealed entry, and a deferred foreign key lets no
posting stay without its entry. This works where triggers cannot be deferred, as in SQLite, where
also INSERT OR REPLACE must be refused, because it would delete rows without any trigger. The
seal also moves the balances of the accounts.
"""

from typing import NamedTuple

from sqlalchemy import Connection

from pigou.ledger.schema import metadata

KEYS = {
    "meta": ("name",),
    "accounts": ("id",),
    "entries": ("number",),
    "postings": ("entry", "account"),
    "statements": ("entry", "account"),
}  # of the tables that make up the journal

NEXT = "NEW.number = (SELECT COALESCE(MAX(number), 0) + 1 FROM entries)"
COUNTED = "NEW.lines = (SELECT COUNT(*) FROM postings WHERE entry = NEW.number)"
BALANCED = "0 = (SELECT COALESCE(SUM(amount), 0) FROM postings WHERE entry = NEW.number)"
OPEN = "NOT EXISTS (SELECT 1 FROM entries WHERE number = NEW.entry)"
SEAL = (
    (NEXT, "entries are numbered without gaps"),
    (COUNTED, "an entry must count its postings"),
    (BALANCED, "an entry must sum to zero"),
)
MOVE = (
    "UPDATE balances SET amount = balances.amount + lines.amount FROM postings AS lines "
    "WHERE lines.entry = NEW.number AND lines.account = balances.account"
)
SEALED = "nothing can be added to an entry that is sealed"


def for_sqlite() -> list[str]:
    """The guards as SQLite takes them."""
    made = []
    for table, key in KEYS.items():
        same = " AND ".join(f"{column} = NEW.{column}" for column in key)
        absent = f"NOT EXISTS (SELECT 1 FROM {table} WHERE {same})"
        guards = [(OPEN, SEALED)] if "entry" in key else [(absent, f"{table} can only grow")]
        guards += SEAL if table == "entries" else ()
        checks = " ".join(
            f"SELECT RAISE(ABORT, 'pigou: {why}') WHERE NOT ({holds});" for holds, why in guards
        )
        made.append(f"CREATE TRIGGER {table}_insert BEFORE INSERT ON {table} BEGIN {checks} END")
        made += [
            f"CREATE TRIGGER {table}_{change} BEFORE {change} ON {table} "
            f"BEGIN SELECT RAISE(ABORT, 'pigou: {table} can only grow'); END"
            for change in ("UPDATE", "DELETE")
        ]
    return [
        *made,
        "CREATE TRIGGER accounts_open AFTER INSERT ON accounts "
        "BEGIN INSERT INTO balances (account, amount) VALUES (NEW.id, 0); END",
        f"CREATE TRIGGER entries_count AFTER INSERT ON entries BEGIN {MOVE}; END",
    ]


def for_postgresql() -> list[str]:
    """The guards as PostgreSQL takes them."""
    made = [
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $${body}$$"
        for name, body in _functions().items()
    ]
    made += [
        f"CREATE TRIGGER {each.name} {each.when} {' OR '.join(each.events)} ON {each.table} "
        f"{'FOR EACH ROW ' if each.by_row else ''}EXECUTE FUNCTION {each.function}()"
        for each in _guards()
    ]
    return made


class Guard(NamedTuple):
    """A trigger of PostgreSQL."""

    table: str
    name: str
    when: str
    events: tuple[str, ...]
    function: str
    by_row: bool = True

    @property
    def bits(self) -> int:
        """The same as PostgreSQL's catalog writes it."""
        known = {"INSERT": 4, "DELETE": 8, "UPDATE": 16, "TRUNCATE": 32}
        before = 2 * (self.when == "BEFORE")
        return sum(known[event] for event in self.events) + before + self.by_row


def _functions() -> dict[str, str]:
    seal = " ".join(
        f"IF NOT ({holds}) THEN RAISE EXCEPTION 'pigou: {why}'; END IF;" for holds, why in SEAL
    )
    opened = f"IF NOT ({OPEN}) THEN RAISE EXCEPTION 'pigou: {SEALED}'; END IF;"
    bodies = {
        "refuse": "RAISE EXCEPTION USING MESSAGE = 'pigou: ' || TG_TABLE_NAME || ' can only grow';",
        "entries_insert": f"{seal} RETURN NEW;",
        "parts_insert": f"{opened} RETURN NEW;",
        "accounts_open": "INSERT INTO balances (account, amount) VALUES (NEW.id, 0); RETURN NULL;",
        "entries_count": f"{MOVE}; RETURN NULL;",
    }
    return {name: f" BEGIN {body} END " for name, body in bodies.items()}


def _guards() -> list[Guard]:
    made = []
    for table in KEYS:
        change, truncate = ("UPDATE", "DELETE"), ("TRUNCATE",)
        made.append(Guard(table, f"{table}_change", "BEFORE", change, "refuse"))
        made.append(Guard(table, f"{table}_truncate", "BEFORE", truncate, "refuse", by_row=False))
    rows = (
        ("entries", "insert", "BEFORE", "entries_insert"),
        ("postings", "insert", "BEFORE", "parts_insert"),
        ("statements", "insert", "BEFORE", "parts_insert"),
        ("accounts", "open", "AFTER", "accounts_open"),
        ("entries", "count", "AFTER", "entries_count"),
    )
    return made + [
        Guard(table, f"{table}_{name}", when, ("INSERT",), function)
        for table, name, when, function in rows
    ]


def altered(connection: Connection) -> list[str]:
    """The guards and tables that are not as they were made: lost, changed, disabled or added."""
    wanted, found = (
        (_wanted_of_sqlite(), _SQLITE)
        if connection.dialect.name == "sqlite"
        else (_wanted_of_postgresql(), _POSTGRESQL)
    )
    there = {tuple(row) for row in connection.exec_driver_sql(found)}
    return sorted({str(row[0]) for row in wanted ^ there})


def _wanted_of_sqlite() -> set[tuple[str, ...]]:
    guards = {(text.split()[2], text) for text in for_sqlite()}
    return guards | {(table, "table") for table in metadata.tables}


def _wanted_of_postgresql() -> set[tuple[str, ...]]:
    bodies = _functions()
    guards = {(g.name, g.table, str(g.bits), bodies[g.function]) for g in _guards()}
    return guards | {(table, "", "r", "") for table in metadata.tables}


_NAMES = ", ".join(f"'{table}'" for table in metadata.tables)
_SQLITE = f"""
    SELECT name, sql FROM sqlite_master WHERE type = 'trigger'
    UNION ALL SELECT name, type FROM sqlite_master WHERE type <> 'trigger' AND name IN ({_NAMES})
"""
# A trigger fires only where it is enabled, has no condition, and is not made for some columns;
# a foreign key is a trigger of the system's own. Rules and policies hide or change rows.
_POSTGRESQL = f"""
    SELECT tgname, relname, tgtype::text, CASE
        WHEN tgenabled NOT IN ('O', 'A') OR tgqual IS NOT NULL OR tgattr <> '' THEN 'disabled'
        ELSE prosrc END
    FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid
    WHERE relnamespace = current_schema()::regnamespace AND relname IN ({_NAMES})
        AND (NOT tgisinternal OR tgenabled NOT IN ('O', 'A'))
    UNION ALL SELECT relname, '', relkind::text, CASE
        WHEN relhasrules OR relrowsecurity THEN 'rules' ELSE '' END
    FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relname IN ({_NAMES})
"""
