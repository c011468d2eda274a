"""The import-arrow test: no module imports what docs/explanation/architecture.md does not draw."""

import ast
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
DRAWING = ROOT / "docs" / "explanation" / "architecture.md"
HEADING = "| room | files | may import |"
TO_COME = "(to come)"
ONLY_HERE = {"flwr": "pigou.federation.flower"}  # packages that one corner alone may import


@dataclass(frozen=True)
class Room:
    """One row of the drawing."""

    name: str
    modules: tuple[str, ...]
    neighbours: tuple[str, ...]
    to_come: bool


def drawn_rooms(page: str) -> dict[str, Room]:
    """The rooms in the table under ``HEADING``."""
    lines = page.splitlines()
    rows = lines[lines.index(HEADING) + 2 :]
    rooms = {}
    for row in rows:
        if not row.startswith("|"):
            break
        name, files, may_import = (cell.strip() for cell in row.strip("|").split("|"))
        modules = [file.strip().strip("`") for file in files.removesuffix(TO_COME).split(",")]
        rooms[name] = Room(
            name,
            tuple(module_name(Path("pigou") / file) for file in modules),
            tuple(part.strip() for part in may_import.split(",") if part.strip(" —")),
            files.endswith(TO_COME),
        )
    return rooms


def module_name(path: Path) -> str:
    """pigou/solve.py and pigou/solve/ are pigou.solve; a package is its __init__."""
    parts = path.with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def reachable(rooms: dict[str, Room], name: str) -> set[str]:
    """The rooms at or below the arrows of one room, and the room itself."""
    found, waiting = {name}, [name]
    while waiting:
        neighbours = rooms[waiting.pop()].neighbours
        names = set(rooms) if neighbours == ("everything",) else set(neighbours)
        waiting += names - found
        found |= names
    return found


def room_of(rooms: dict[str, Room], module: str) -> str:
    """The one room that holds a module: ``pigou`` itself is a room of its own."""
    homes = [
        room.name
        for room in rooms.values()
        for home in room.modules
        if module == home or (home != "pigou" and module.startswith(home + "."))
    ]
    assert len(homes) == 1, f"{module} must stand in one room of architecture.md, not in {homes}"
    return homes[0]


def imported(tree: ast.AST, module: str, is_package: bool) -> set[str]:
    """Full names of everything a module's text imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            up = node.level - is_package
            base = module.rsplit(".", up)[0] if up > 0 else module
            start = [base] if node.level else []
            source = ".".join([*start, *([node.module] if node.module else [])])
            names |= {f"{source}.{alias.name}" for alias in node.names}
    return names


def known_module(name: str, modules: set[str]) -> str:
    """The module behind an imported name, which may be an attribute of a module."""
    while name not in modules and "." in name:
        name = name.rpartition(".")[0]
    return name


def wrong_arrows(source: Path, rooms: dict[str, Room]) -> list[str]:
    """Every import under ``source`` that the drawing does not allow."""
    files = {module_name(p.relative_to(source)): p for p in source.rglob("*.py")}
    wrong = []
    for module, path in sorted(files.items()):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        home = room_of(rooms, module)
        allowed = reachable(rooms, home)
        for name in sorted(imported(tree, module, path.name == "__init__.py")):
            if name.partition(".")[0] == "pigou":
                target = known_module(name, set(files))
                if target == "pigou" and name.count(".") > 1:
                    wrong.append(f"{module} imports {name}, which is not there")
                elif (there := room_of(rooms, target)) not in allowed:
                    wrong.append(f"{module} ({home}) imports {target} ({there})")
            corner = ONLY_HERE.get(name.partition(".")[0])
            if corner and module != corner and not module.startswith(corner + "."):
                wrong.append(f"{module} imports {name}: only {corner} may")
    return wrong


ROOMS = drawn_rooms(DRAWING.read_text(encoding="utf-8"))


def test_every_import_is_drawn() -> None:
    assert wrong_arrows(SOURCE, ROOMS) == []


def test_the_drawing_is_true_to_the_tree() -> None:
    """Rooms that are not marked as to come exist with all their files; the others do not exist."""
    for room in ROOMS.values():
        for module in room.modules:
            base = SOURCE.joinpath(*module.split("."))
            exists = base.with_suffix(".py").is_file() or (base / "__init__.py").is_file()
            assert exists != room.to_come, f"{room.name}: {module}"


def test_arrows_lead_to_rooms_and_never_back() -> None:
    names = set(ROOMS)
    for room in ROOMS.values():
        if room.neighbours == ("everything",):
            continue
        assert set(room.neighbours) <= names, room.name
        for neighbour in room.neighbours:
            assert room.name not in reachable(ROOMS, neighbour), f"{room.name} and {neighbour}"


def test_the_certificate_shares_no_code_with_what_it_checks() -> None:
    assert not reachable(ROOMS, "certificate") & {"solve", "mechanisms", "anarchy", "paper"}


PLANTED = [
    ("game.py", "from pigou.solve import optimum", "pigou.game (game) imports pigou.solve (solve)"),
    ("game.py", "import pigou.solve", "pigou.game (game) imports pigou.solve (solve)"),
    ("game.py", "from pigou import solve", "pigou.game (game) imports pigou.solve (solve)"),
    ("game.py", "from . import solve", "pigou.game (game) imports pigou.solve (solve)"),
    ("game.py", "from .solve import optimum", "pigou.game (game) imports pigou.solve (solve)"),
    ("game.py", "from pigou import Game", "pigou.game (game) imports pigou (public)"),
    (
        "certificate/search.py",
        "def f():\n    from ..mechanisms import billing",
        "pigou.certificate.search (certificate) imports pigou.mechanisms (mechanisms)",
    ),
    (
        "solve.py",
        "from pigou.shed import x",
        "pigou.solve imports pigou.shed.x, which",
    ),
    ("solve.py", "import flwr.client", "pigou.solve imports flwr.client: only"),
    ("solve.py", "import pigou.game, numpy", None),
]


@pytest.mark.parametrize(("file", "line", "found"), PLANTED)
def test_a_planted_arrow_is_found(tmp_path: Path, file: str, line: str, found: str | None) -> None:
    for name in ("__init__.py", "game.py", "solve.py", "mechanisms/__init__.py", file):
        path = tmp_path / "pigou" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "pigou" / file).write_text(line)
    wrong = wrong_arrows(tmp_path, ROOMS)
    assert len(wrong) == (found is not None)
    assert all(message.startswith(found or "") for message in wrong)


def test_a_module_without_a_room_is_found(tmp_path: Path) -> None:
    (tmp_path / "pigou").mkdir()
    (tmp_path / "pigou" / "shed.py").touch()
    with pytest.raises(AssertionError, match=r"pigou.shed must stand in one room"):
        wrong_arrows(tmp_path, ROOMS)
