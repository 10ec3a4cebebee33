"""Programs with a planted number of faults, for floods: `python generate.py <kind> <number> <folder>`."""

import sys
from pathlib import Path


def c_flood(number: int) -> dict[str, str]:
    """`number` unused variables, with three type errors among them."""
    lines = ["struct shelf { int width; };", ""]
    for n in range(number):
        lines.append(f"int fill_{n:04}(int level) {{ int spare_{n:04} = {n}; return level + {n % 7}; }}")
        if n in (number // 3, number // 2, number - 40):
            lines.append(f"int broken_{n:04}(struct shelf s) {{ return s.height_{n:04}; }}")
    return {"flood.c": "\n".join(lines) + "\n"}


def java_flood(number: int) -> dict[str, str]:
    """`number` unchecked calls: more than the compiler's cap of 100 warnings."""
    body = [f"    void put{n}(List raw) {{ raw.add({n}); }}" for n in range(number)]
    return {"Flood.java": "import java.util.List;\n\npublic class Flood {\n" + "\n".join(body) + "\n}\n"}


def ts_flood(number: int) -> dict[str, str]:
    """`number` wrong assignments over six modules."""
    modules: dict[str, list[str]] = {f"src/module{m}.ts": ["export {};"] for m in range(6)}
    for n in range(number):
        value = ('"word"', "[1]", "{ a: 1 }", "null")[n % 4]
        modules[f"src/module{n % 6}.ts"].append(f"const value{n}: {('number', 'boolean', 'Date')[n % 3]} = {value};")
    return {name: "\n".join(lines) + "\n" for name, lines in modules.items()}


def shell_flood(number: int) -> dict[str, str]:
    """`number` unquoted expansions."""
    lines = ["#!/bin/sh"]
    lines += [f"cp $source{n % 9} /srv/copies/$name{n % 5}" if n % 3 else f"rm `ls part{n}.tmp`" for n in range(number)]
    return {"flood.sh": "\n".join(lines) + "\n"}


def rust_flood(number: int) -> dict[str, str]:
    """`number` unused variables and one wrong type at the end."""
    functions = [f"pub fn page{n}() -> usize {{ let spare{n} = {n}; {n} }}" for n in range(number)]
    cargo = '[package]\nname = "pages"\nversion = "0.1.0"\nedition = "2021"\n'
    return {"Cargo.toml": cargo, "src/lib.rs": "\n".join(functions) + '\npub fn last() -> usize { "last" }\n'}


KINDS = {"c": c_flood, "java": java_flood, "ts": ts_flood, "shell": shell_flood, "rust": rust_flood}


def main() -> None:
    """Write the files of one kind."""
    kind, number, folder = sys.argv[1:]
    for name, text in KINDS[kind](int(number)).items():
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main()
