"""Measure functions and files of the source tree, and fail where one is over its limit.

measure.py [FOLDER ...]    default: src

Prints one table with medians, 90th percentiles and maxima, then the longest functions. Exit code 1 over a limit.
"""

from __future__ import annotations

import ast
import math
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.comprehension, ast.match_case)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LONG = 60


@dataclass(frozen=True, slots=True)
class Function:
    """One function: where it is, and its figures; ``described`` is None for private ones."""

    place: str
    lines: int
    complexity: int
    parameters: int
    described: bool | None


@dataclass(frozen=True, slots=True)
class Limit:
    """A figure with the most (or, for shares, the least) that it may be."""

    name: str
    value: float
    limit: float
    at_least: bool = False

    @property
    def kept(self) -> bool:
        """True when the figure is within its limit."""
        return self.value >= self.limit if self.at_least else self.value <= self.limit


def main(arguments: Sequence[str]) -> int:
    """Print the figures; 1 when one of them is over its limit."""
    files = sorted(path for folder in arguments or ["src"] for path in (ROOT / folder).rglob("*.py"))
    functions = [one for path in files for one in functions_of(path)]
    sizes = {str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in files}
    limits = [*function_limits(functions), *file_limits([size for size in sizes.values() if size > 1])]
    print(f"{len(functions)} functions in {len(files)} files, {sum(sizes.values())} lines")
    for one in limits:
        sign = "≥" if one.at_least else "≤"
        print(f"  {'ok  ' if one.kept else 'OVER'} {one.name:34} {one.value:7.1f}   {sign} {one.limit:g}")
    print_largest(functions, sizes)
    print_offenders(functions)
    return 0 if all(one.kept for one in limits) else 1


def function_limits(functions: Sequence[Function]) -> list[Limit]:
    """The figures of all functions beside their limits."""
    lines = [one.lines for one in functions] or [0]
    public = [one.described for one in functions if one.described is not None]
    return [
        Limit("function lines, median", statistics.median(lines), 8),
        Limit("function lines, 90th percentile", percentile(lines, 90), 25),
        Limit("function lines, longest", max(lines), 80),
        Limit(f"functions over {LONG} lines, percent", 100 * sum(n > LONG for n in lines) / len(lines), 1),
        Limit("complexity, highest", max((one.complexity for one in functions), default=0), 10),
        Limit("parameters, most", max((one.parameters for one in functions), default=0), 6),
        Limit("public functions described, percent", 100 * sum(public) / (len(public) or 1), 100, at_least=True),
    ]


def file_limits(sizes: Sequence[int]) -> list[Limit]:
    """The figures of all files beside their limits."""
    return [
        Limit("file lines, median", statistics.median(sizes), 120),
        Limit("file lines, longest", max(sizes), 500),
    ]


def print_largest(functions: Sequence[Function], sizes: dict[str, int]) -> None:
    """Print what is worth a second look."""
    print("longest functions")
    for one in sorted(functions, key=lambda one: -one.lines)[:5]:
        print(f"  {one.lines:4} lines  {one.place}")
    print("longest files")
    for name, size in sorted(sizes.items(), key=lambda item: -item[1])[:5]:
        print(f"  {size:4} lines  {name}")


def print_offenders(functions: Sequence[Function]) -> None:
    """Name the functions that are over a limit of their own."""
    for one in functions:
        if one.complexity > 10 or one.parameters > 6 or one.described is False:
            state = "no docstring" if one.described is False else "described or private"
            print(f"look at {one.place}: complexity {one.complexity}, {one.parameters} parameters, {state}")


def functions_of(path: Path) -> Iterator[Function]:
    """Every function and method in a file."""
    text = path.read_text("utf-8")
    lines = text.splitlines()
    for node, public in walk(ast.parse(text), public=True):
        described = ast.get_docstring(node) is not None
        # A function that the linter excuses gives its reason in that line; it is not counted against us twice.
        excused = "PLR0913" in "".join(lines[node.lineno - 1 : node.body[0].lineno])
        yield Function(
            place=f"{path.relative_to(ROOT)}:{node.lineno} {node.name}",
            lines=(node.end_lineno or node.lineno) - node.lineno + 1,
            complexity=complexity(node),
            parameters=0 if excused else parameters(node),
            described=described if public and not node.name.startswith("_") else None,
        )


def walk(parent: ast.AST, *, public: bool) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, bool]]:
    """Every function below a node, and whether what surrounds it is public."""
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, FUNCTIONS):
            yield node, public
            yield from walk(node, public=False)
        else:
            hidden = isinstance(node, ast.ClassDef) and node.name.startswith("_")
            yield from walk(node, public=public and not hidden)


def complexity(function: ast.AST) -> int:
    """1 plus a point for each branch; functions within count for themselves."""
    total, ahead = 1, list(ast.iter_child_nodes(function))
    while ahead:
        node = ahead.pop()
        if isinstance(node, FUNCTIONS):
            continue
        total += isinstance(node, BRANCHES)
        ahead += ast.iter_child_nodes(node)
    return total


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Number of parameters, without self and cls."""
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def percentile(values: Sequence[int], share: int) -> int:
    """The smallest value that ``share`` percent of all values do not exceed."""
    ordered = sorted(values)
    return ordered[math.ceil(len(ordered) * share / 100) - 1]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
