"""The database's own guards, in both dialects: whoever writes, the journal only grows, in balance.

An entry's postings are written before the entry itself, whose insertion checks that they sum to
zero and seals them: no posting can join a sealed entry, and a deferred foreign key lets no
posting stay without its entry. This works where triggers cannot be deferred, as in SQLite, where
also INSERT OR REPLACE must be refused, because it would delete rows without any trigger. The
seal also moves the balances of the accounts.
"""

from sqlalchemy import Connection

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
    seal = " ".join(
        f"IF NOT ({holds}) THEN RAISE EXCEPTION 'pigou: {why}'; END IF;" for holds, why in SEAL
    )
    opened = f"IF NOT ({OPEN}) THEN RAISE EXCEPTION 'pigou: {SEALED}'; END IF;"
    functions = {
        "refuse": "RAISE EXCEPTION USING MESSAGE = 'pigou: ' || TG_TABLE_NAME || ' can only grow';",
        "entries_insert": f"{seal} RETURN NEW;",
        "parts_insert": f"{opened} RETURN NEW;",
        "accounts_open": "INSERT INTO balances (account, amount) VALUES (NEW.id, 0); RETURN NULL;",
        "entries_count": f"{MOVE}; RETURN NULL;",
    }
    made = [
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} END $$"
        for name, body in functions.items()
    ]
    for table in KEYS:
        made += [
            f"CREATE TRIGGER {table}_change BEFORE UPDATE OR DELETE ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION refuse()",
            f"CREATE TRIGGER {table}_truncate BEFORE TRUNCATE ON {table} EXECUTE FUNCTION refuse()",
        ]
    rows = (
        ("entries", "insert", "BEFORE", "entries_insert"),
        ("postings", "insert", "BEFORE", "parts_insert"),
        ("statements", "insert", "BEFORE", "parts_insert"),
        ("accounts", "open", "AFTER", "accounts_open"),
        ("entries", "count", "AFTER", "entries_count"),
    )
    made += [
        f"CREATE TRIGGER {table}_{name} {when} INSERT ON {table} "
        f"FOR EACH ROW EXECUTE FUNCTION {function}()"
        for table, name, when, function in rows
    ]
    return made


def missing(connection: Connection) -> set[str]:
    """The guards that the database should have, and has not."""
    if connection.dialect.name == "sqlite":
        made, there = for_sqlite(), "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    else:
        made, there = (
            for_postgresql(),
            (
                "SELECT tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid "
                "WHERE relnamespace = current_schema()::regnamespace AND tgenabled <> 'D'"
            ),
        )
    names = {text.split()[2] for text in made if text.startswith("CREATE TRIGGER")}
    return names - set(connection.exec_driver_sql(there).scalars())
