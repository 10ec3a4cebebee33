"""Small programs with faults for the lint captures: what packages and the corpus programs seldom show.

`PROGRAMS` maps a folder to its files; everything here is made for these captures.
"""

# ruff: noqa: E501, W293, E101 - programs with faults, kept as they are

MONO_A = """\
#include "shared.h"

int width(const char *text)
{
    int unused = 3;
    unsigned long n = 5;
    for (int i = 0; i < n; i++)
        text++;
    return SCALE(text);
}
"""
MONO_B = """\
#include "shared.h"

static int never(void) { return 1; }

int width_of(struct box *box)
{
    return SCALE(box->width) + box->depth;
}
"""
SHARED_H = """\
#ifndef SHARED_H
#define SHARED_H
struct box {
    int width, height;
};
#define SCALE(x) ((x) * 2)
static int helper(int n) { int local; return n; }
#endif
"""
MAKEFILE = """\
CFLAGS = -Wall -Wextra
OBJECTS = app/width.o lib/width.o app/width32.o

all: $(OBJECTS)

app/width32.o: app/width.c
\t$(CC) $(CFLAGS) -Ilib -c -o $@ $<

%.o: %.c
\t$(CC) $(CFLAGS) -Ilib -c -o $@ $<
"""
CMAKE = """\
cmake_minimum_required(VERSION 3.16)
project(boxes C)
add_compile_options(-Wall -Wextra)
include_directories(lib)
add_library(one OBJECT app/width.c lib/width.c)
add_library(two OBJECT app/width.c)
"""
WITH_LINKER = """\
extern int present(int);
extern int absent_total(int);
extern int absent_table[4];

int main(void)
{
    return absent_total(absent_table[1]);
}
"""
SQUARE = """\
static int doubled(int side) { return side * 2; }
int area(int side) { char *p = 0; if (side) return *p; }
"""
TYPES = '''\
"""Types that do not fit."""

from typing import Optional

import missing_library


class Shelf:
    def __init__(self, size: int) -> None:
        self.size = size

    def label(self) -> str:
        return self.size


def widest(shelves: list[Shelf]) -> Optional[Shelf]:
    best = None
    for shelf in shelves:
        if best is None or shelf.size > best:
            best = shelf
    return best.label()


reveal_type(widest([]))
count: int = "a: b.py:3: error: not a row  [misc]"
widest({"one": Shelf(1), "two": Shelf("2"), "three": [Shelf(size="a very long text that makes the line wide", depth=4)]})
Shelf(1).missing_attribute.another
value = undefined_name  # type: ignore[attr-defined]
'''
STYLE = """\
import os, sys
import json
from typing import *
l = 1
def f( a,b = 3 ):
	x = lambda: 0
        
	if a == None :
	    print("%s" % b, undefined_name)
	return a
class thing():
    def method(self, items=[], *, C=1):
        try: pass
        except: pass
        assert (1, "always true")
        return f"nothing"
"""
BROKEN = """\
def f(:
    pass
"""
DUPLICATE = '''\
"""Module {n}."""


def collect_rows(table, names):
    """Collect."""
    rows = []
    for name in names:
        row = table.get(name)
        if row is None:
            continue
        row = row.strip()
        rows.append(row)
    total = 0
    for row in rows:
        total += len(row)
    return rows, total
'''
ESLINT_V8 = """\
{ "root": true, "extends": "eslint:recommended", "env": {"node": true, "es2022": true},
  "rules": { "eqeqeq": "error", "prefer-const": "warn", "no-var": "warn", "curly": "warn", "semi": "error" } }
"""
SHELL_ODD = """\
echo $1
for f in $(ls *.txt); do
\tcp $f "$HOME"/`basename $f`
\tif [ $? == 0 ]; then echo "odd.sh:9:2: note: not a row [SC2086]"; rm $f; fi
done
read line < file | cat $line
"""
TS_BASE = (
    '{"compilerOptions": {"strict": true, "composite": true, "outDir": "out", "rootDir": "src"}, "include": ["src"]}'
)

NOTEBOOK = """\
{"cells": [
 {"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": ["import os\\n", "x = 1\\n"]},
 {"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": ["import sys\\n", "print(missing)"]}
], "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
"""
NPM = '{"name": "cart", "version": "1.0.0", "scripts": {"lint": "eslint src", "report": "eslint -f json src"}}\n'

PROGRAMS: dict[str, dict[str, str]] = {
    "mono": {
        "app/width.c": MONO_A,
        "lib/width.c": MONO_B,
        "lib/shared.h": SHARED_H,
        "lib/run.sh": "#!/bin/sh\ncp $1 $2\n",
        "lib/width.py": "import os\n\nwidth: int = 'wide'\n",
        "Makefile": MAKEFILE,
        "CMakeLists.txt": CMAKE,
    },
    "link": {"main.c": WITH_LINKER, "part.c": "int present(int n) { return n; }\nint main(void) { return 0; }\n"},
    "asm": {"start.s": "\t.text\nmain:\n\tmovq %rax\n\tnosuch %rbx, %rcx\n"},
    "square": {"square.c": SQUARE, "my lib/deep dir/square (2).c": SQUARE},
    "typed": {"shelf.py": TYPES, "pkg one/odd name.py": "x: int = 'a'\n"},
    "style": {"first.py": STYLE, "pkg/first.py": STYLE, "broken.py": BROKEN, "good.py": '"""Nothing."""\n'},
    "twins": {
        "one.py": DUPLICATE.format(n="one"),
        "two.py": DUPLICATE.format(n="two"),
        "three.py": '"""Uses others."""\n\nimport four\n\nVALUE = four.OTHER\n',
        "four.py": '"""Uses others."""\n\nimport three\n\nOTHER = three.VALUE\n',
    },
    "notebook": {"shelf.ipynb": NOTEBOOK},
    "npm": {"package.json": NPM},
    "js8": {".eslintrc.json": ESLINT_V8},
    "shell": {"odd.sh": SHELL_ODD, "no shebang/run: 2.sh": "echo $1\n"},
    "refs": {
        "core/src/a.ts": "export const size: number = 'three';\nexport function f(x) { return x.y; }\n",
        "core/tsconfig.json": TS_BASE,
        "app/src/a.ts": "const n: string = 3;\nlet missing = nothing + n;\nexport {};\n",
        "app/tsconfig.json": TS_BASE,
        "tsconfig.json": '{"files": [], "references": [{"path": "core"}, {"path": "app"}]}',
    },
    "rustspace": {
        "Cargo.toml": '[workspace]\nmembers = ["one", "two"]\nresolver = "2"\n',
        "one/Cargo.toml": '[package]\nname = "one"\nversion = "0.1.0"\nedition = "2021"\n',
        "one/src/lib.rs": "use std::fmt;\npub fn f(n: u32) -> bool {\n    return n == n;\n}\npub fn g(v: &Vec<u8>) -> usize { v.len() }\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() { let x = 3; }\n}\n",
        "two/Cargo.toml": '[package]\nname = "two"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\none = { path = "../one" }\n',
        "two/src/main.rs": 'macro_rules! bad { ($e:expr) => { $e + "text" }; }\nfn main() {\n    let y = bad!(1);\n    let s: String = one::f(3);\n    println!("{}", one::nothing(2, y));\n}\n',
        "two/src/lib.rs": "pub fn spare() { let mut z = 1; }\n",
    },
    "javas": {
        "src/a/Box.java": 'package a;\n\nimport java.util.*;\n\npublic class Box<T extends Comparable<T>> {\n    List raw = new ArrayList();\n    int f(Object o) { return (List<String>) o; }\n    void g() { Box<Object> b = new Box<>(); int x = 1L; String s = missing(1, "b"); }\n}\n',
        "src/b/Box.java": "package b;\n\npublic class Box {\n    int f() {\n        int x = 1\n        return x;\n    }\n}\n",
    },
}
"""Folder -> files: path -> text."""
