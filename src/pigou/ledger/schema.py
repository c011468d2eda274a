"""The tables. Five are the journal and only grow; balances, states and histories are beside it."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

VERSION = "1"

metadata = MetaData()

# SQLite makes a column the row's own number only if its type is INTEGER, which has 64 bits there.
Number = BigInteger().with_variant(Integer(), "sqlite")


def _whole(column: str) -> CheckConstraint:
    """SQLite turns a sum beyond 64 bits into a float; PostgreSQL refuses it by itself."""
    return CheckConstraint(f"typeof({column}) = 'integer'").ddl_if(dialect="sqlite")


meta = Table(
    "meta",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

accounts = Table(
    "accounts",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("consortium", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("currency", Text, nullable=False),
    UniqueConstraint("owner", "kind", "consortium", "currency"),
    CheckConstraint("kind IN ('client', 'reserve')"),
)

entries = Table(
    "entries",
    metadata,
    Column("number", Number, primary_key=True, autoincrement=False),
    Column("consortium", Text, nullable=False),
    Column("run", Text, nullable=False),
    Column("round", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("currency", Text, nullable=False),
    Column("unit", Text, nullable=False),
    Column("terms", Text, nullable=False),
    Column("mean", Text, nullable=False),
    Column("constant_refund", BigInteger),
    Column("reverses", ForeignKey("entries.number"), unique=True),
    Column("reason", Text, nullable=False),
    Column("lines", BigInteger, nullable=False),
    Column("posted", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("root", Text, nullable=False),
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Column("signature", Text, nullable=False),
    UniqueConstraint("run", "round", "kind"),
    CheckConstraint("kind IN ('round', 'transfers', 'reversal')"),
    CheckConstraint("(kind = 'reversal') = (reverses IS NOT NULL)"),
    CheckConstraint("kind = 'reversal' OR (kind = 'transfers') = (round = 0)"),
    CheckConstraint("unit = 'micro'"),
)

postings = Table(
    "postings",
    metadata,
    Column(
        "entry",
        ForeignKey("entries.number", deferrable=True, initially="DEFERRED"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("account", ForeignKey("accounts.id"), primary_key=True, autoincrement=False),
    Column("amount", BigInteger, nullable=False),
    _whole("amount"),
    sqlite_with_rowid=False,
)

statements = Table(
    "statements",
    metadata,
    Column("entry", Number, primary_key=True, autoincrement=False),
    Column("account", Number, primary_key=True, autoincrement=False),
    Column("deviation", Float(53), nullable=False),
    Column("coefficient", Float(53), nullable=False),
    Column("charge", BigInteger, nullable=False),
    Column("refund", BigInteger, nullable=False),
    Column("upload", Text, nullable=False),
    Column("refundable", BigInteger, nullable=False),
    ForeignKeyConstraint(["entry", "account"], ["postings.entry", "postings.account"]),
    sqlite_with_rowid=False,
)

balances = Table(
    "balances",
    metadata,
    Column("account", ForeignKey("accounts.id"), primary_key=True, autoincrement=False),
    Column("amount", BigInteger, nullable=False),
    _whole("amount"),
)

states = Table(
    "states",
    metadata,
    Column("run", Text, primary_key=True),
    Column("entry", ForeignKey("entries.number"), nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("signature", Text, nullable=False),
)

histories = Table(
    "histories",
    metadata,
    Column("entry", ForeignKey("entries.number"), primary_key=True, autoincrement=False),
    Column("content", LargeBinary, nullable=False),
    Column("signature", Text, nullable=False),
)
