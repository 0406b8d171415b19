"""The loops of coloring and decompression, compiled by LLVM where llvmlite is there and it pays.

Graphs are CSR arrays ``indptr, indices``. ``visits`` is the order of the vertices. The loops run
over lists in Python, whose items are read faster than those of arrays; where the same is found by
other means that Python is better at, ``python_kernels`` has these. Compiled, they run over arrays
of int64: LLVM IR is made of their text here, in the words of native loops.
"""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from adcompiler.errors import NotCompiledError
from adcompiler.runtime.native import has_compiler
from adcompiler.sparsity.coloring.python_kernels import dynamic_order, greedy_colors
from adcompiler.sparsity.dependences.index_sets import Array

if TYPE_CHECKING:
    from adcompiler.sparsity.dependences.values import Operand

Integers = list[int]
"""What kernels run over: arrays of integers, in machine code."""

WORTH_COMPILING = 300_000
"""Elements of the arguments from which compiling a kernel takes less time than running it."""


def kernel(
    function: Callable[..., Any], in_python: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """Return ``function`` as one that runs natively on large arguments, if LLVM is there.

    Elsewhere ``in_python`` gives the same result in less time.
    """
    interpreted = in_python or function

    @functools.wraps(function)
    def run(*args: Any) -> Any:
        size = sum(arg.size for arg in args if isinstance(arg, np.ndarray))
        if size >= WORTH_COMPILING and has_compiler():
            try:
                done, found = compiled(function)(*map(as_words, args))
            except (NotCompiledError, MemoryError):
                done = False
            if done:
                return found
        return interpreted(*map(as_list, args))

    return run


def as_list(arg: Operand) -> Any:
    """Return an array of integers as a list, anything else as it is."""
    return arg.tolist() if isinstance(arg, np.ndarray) and arg.dtype.kind == "i" else arg


def as_words(arg: Operand) -> Any:
    """Return an array of integers as one of int64, anything else as it is."""
    if isinstance(arg, np.ndarray) and arg.dtype.kind == "i":
        return arg.astype(np.int64, copy=False)
    return arg


@functools.cache
def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel compiled at its first call; it returns whether it came to its end, too."""
    from adcompiler.backends.native.emit.llvm import llvm_ir
    from adcompiler.runtime.machine.loops import Loops, Source

    loops = Loops(FunctionType(function.__code__, {}, function.__name__))
    text = ast.unparse(InWords().visit(ast.parse(inspect.getsource(sys.modules[__name__]))))
    loops.function, loops.source = function, Source(text, llvm_ir)
    return loops


class InWords(ast.NodeTransformer):
    """Writes the functions of this module as native loops are written."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """Let a kernel return that it came to its end, and be inlined what it calls."""
        is_kernel = node.name.endswith("_kernel")
        node.decorator_list = [ast.Name("compiled" if is_kernel else "inlined")]
        self.generic_visit(node)
        if is_kernel:
            last = node.body[-1]
            value = last.value if isinstance(last, ast.Return) else None
            made = ast.Tuple([ast.Constant(True), value or ast.Constant(0)])
            node.body[len(node.body) - (value is not None) :] = [ast.Return(made)]
        return node

    def visit_For(self, node: ast.For) -> Any:
        """Write a loop over an array as one over positions."""
        self.generic_visit(node)
        match node:
            case ast.For(ast.Name(item), ast.Name(array), body):
                head = f"for place in range({array}.shape[0]): {item} = {array}[place]"
                loop: Any = ast.parse(head).body[0]
                loop.body += body
                return loop
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        """Write ``len`` and ``full`` as NumPy has them."""
        self.generic_visit(node)
        match node:
            case ast.Call(ast.Name("len"), [one]):
                text = f"{ast.unparse(one)}.shape[0]"
            case ast.Call(ast.Name("full"), [count, value]):
                dtype = "bool_" if ast.unparse(value) == "False" else "int64"
                text = f"np.full({ast.unparse(count)}, {ast.unparse(value)}, np.{dtype})"
            case _:
                return node
        return ast.parse(text, mode="eval").body


def full(n: int, value: int) -> Any:
    """Return ``n`` times ``value``: a list here, an array in machine code."""
    return [value] * n


def free_color(forbidden: Integers, v: int) -> Any:
    """Return the first color that is not forbidden for a vertex."""
    c = 0
    while forbidden[c] == v:
        c += 1
    return c


@functools.partial(kernel, in_python=greedy_colors)
def partial_distance_two_kernel(
    row_ptr: Integers, row_indices: Integers, column_ptr: Integers, column_indices: Integers,
    visits: Integers,
) -> Any:
    """Color columns greedily so that those with a nonzero in the same row differ."""
    n = len(column_ptr) - 1
    colors = full(n, -1)
    forbidden = full(n + 1, -1)
    for v in visits:
        for at in range(column_ptr[v], column_ptr[v + 1]):
            row = column_indices[at]
            for other in range(row_ptr[row], row_ptr[row + 1]):
                c = colors[row_indices[other]]
                if c >= 0:
                    forbidden[c] = v
        c = free_color(forbidden, v)
        colors[v] = c
    return colors


@functools.partial(kernel, in_python=dynamic_order)
def dynamic_order_kernel(indptr: Integers, indices: Integers, smallest_last: bool) -> Any:
    """Order vertices by degrees that change: smallest last, or largest incidence degree first.

    Vertices are kept in buckets, doubly linked lists by degree, so that all takes linear time
    (D. W. Matula, L. L. Beck, J. ACM 30 (1983) for smallest last; T. F. Coleman, J. J. More, SIAM
    J. Numer. Anal. 20 (1983) for the incidence degree). Of vertices of one degree the one that has
    had it for the shortest time comes first.
    """
    n = len(indptr) - 1
    degree = full(n, 0)
    highest = 0
    for v in range(n):
        if smallest_last:
            degree[v] = indptr[v + 1] - indptr[v]
        highest = max(highest, indptr[v + 1] - indptr[v])
    head = full(highest + 2, -1)
    after = full(n, -1)
    before = full(n, -1)
    for v in range(n - 1, -1, -1):
        d = degree[v]
        after[v] = head[d]
        if head[d] >= 0:
            before[head[d]] = v
        head[d] = v
    done = full(n, False)
    order = full(n, 0)
    d = 0
    for step in range(n):
        if smallest_last:
            while head[d] < 0:
                d += 1
        else:
            while head[d] < 0:
                d -= 1
        v = head[d]
        head[d] = after[v]
        if after[v] >= 0:
            before[after[v]] = -1
        done[v] = True
        order[n - 1 - step if smallest_last else step] = v
        for at in range(indptr[v], indptr[v + 1]):
            w = indices[at]
            if done[w]:
                continue
            old = degree[w]
            if before[w] >= 0:
                after[before[w]] = after[w]
            else:
                head[old] = after[w]
            if after[w] >= 0:
                before[after[w]] = before[w]
            new = old - 1 if smallest_last else old + 1
            degree[w] = new
            before[w] = -1
            after[w] = head[new]
            if head[new] >= 0:
                before[head[new]] = w
            head[new] = w
        d = max(d - 1, 0) if smallest_last else min(d + 1, highest)
    return order


def forbid_stars(
    v: int, indptr: Integers, indices: Integers, colors: Integers, forbidden: Integers,
    first_from: Integers, first_edge: Integers, treated: Integers, star: Integers, hub: Integers,
    seen: Integers, found: Integers,
) -> None:
    """Forbid the colors that would close a path of four vertices in two colors at ``v``."""
    for at in range(indptr[v], indptr[v + 1]):
        w = indices[at]
        c = colors[w]
        if c < 0:
            continue
        forbidden[c] = v
        if first_from[c] == v:
            q = indices[first_edge[c]]
            if treated[q] != v:
                for place in range(indptr[q], indptr[q] + found[q]):
                    forbidden[colors[indices[seen[place]]]] = v
                treated[q] = v
            for place in range(indptr[w], indptr[w] + found[w]):
                forbidden[colors[indices[seen[place]]]] = v
            treated[w] = v
        else:
            first_from[c] = v
            first_edge[c] = at
            for place in range(indptr[w], indptr[w] + found[w]):
                x = indices[seen[place]]
                if hub[star[seen[place]]] == x:
                    forbidden[colors[x]] = v


def join_stars(
    v: int, c: int, indptr: Integers, indices: Integers, mirror: Integers, colors: Integers,
    first_edge: Integers, star: Integers, hub: Integers, seen: Integers, found: Integers,
    stars: int,
) -> Any:
    """Enter the edges of ``v``, which has color ``c`` now, in stars; return how many there are."""
    for at in range(indptr[v], indptr[v + 1]):
        w = indices[at]
        if colors[w] < 0:
            continue
        joined = -1
        for place in range(indptr[w], indptr[w] + found[w]):
            if colors[indices[seen[place]]] == c:
                joined = seen[place]
                break
        if joined >= 0:
            hub[star[joined]] = w
            star[at] = star[joined]
        else:
            seen[indptr[w] + found[w]] = mirror[at]
            found[w] += 1
            first = first_edge[colors[w]]
            if indices[first] != w:
                if star[first] < 0:
                    star[first] = stars
                    star[mirror[first]] = stars
                    stars += 1
                hub[star[first]] = v
                star[at] = star[first]
            elif star[at] < 0:
                star[at] = stars
                stars += 1
        star[mirror[at]] = star[at]
        if indices[first_edge[colors[w]]] == w:
            seen[indptr[v] + found[v]] = at
            found[v] += 1
    return stars


@kernel
def star_kernel(
    indptr: Integers, indices: Integers, mirror: Integers, visits: Integers, most: int,
) -> Any:
    """Color so that every path of four vertices has three colors (algorithm 4.1, 2007).

    The edges between two colors form stars, which are kept with their hubs. Edges from a vertex to
    all neighbours of one color are in one star, so that the first of them stands for all: these are
    ``seen``, as many as ``found`` says, where the vertex has its neighbours. Thus vertices with
    many neighbours take no longer than others. Ends early, with vertices at -1, where ``most``
    colors are not enough.
    """
    n = len(indptr) - 1
    seen = full(len(indices), 0)
    found = full(n, 0)
    colors = full(n, -1)
    forbidden = full(n + 1, -1)
    first_from = full(n + 1, -1)  # by color: the vertex that saw a first neighbour of it
    first_edge = full(n + 1, -1)  # and the edge to that neighbour
    treated = full(n, -1)
    star = full(len(indices), -1)
    hub = full(len(indices) + 1, -1)
    stars = 0
    for v in visits:
        forbid_stars(
            v, indptr, indices, colors, forbidden, first_from, first_edge, treated, star, hub,
            seen, found,
        )
        c = free_color(forbidden, v)
        if c >= most:
            break
        colors[v] = c
        stars = join_stars(
            v, c, indptr, indices, mirror, colors, first_edge, star, hub, seen, found, stars
        )
    return colors


def forbid_cycles(
    v: int, indptr: Integers, indices: Integers, mirror: Integers, colors: Integers,
    forbidden: Integers, parent: Integers, visited: Integers, visited_from: Integers,
    seen: Integers, found: Integers,
) -> None:
    """Forbid the colors of neighbours of ``v``, and those that would close a cycle in two."""
    for at in range(indptr[v], indptr[v + 1]):
        if colors[indices[at]] >= 0:
            forbidden[colors[indices[at]]] = v
    for at in range(indptr[v], indptr[v + 1]):
        w = indices[at]
        if colors[w] < 0:
            continue
        for place in range(indptr[w], indptr[w] + found[w]):
            other = seen[place]
            x = indices[other]
            if forbidden[colors[x]] == v:
                continue
            tree = min(other, mirror[other])
            while parent[tree] != tree:
                parent[tree] = parent[parent[tree]]
                tree = parent[tree]
            if visited[tree] != v:
                visited[tree] = v
                visited_from[tree] = w
            elif visited_from[tree] != w:
                forbidden[colors[x]] = v


def join_trees(
    v: int, c: int, indptr: Integers, indices: Integers, mirror: Integers, colors: Integers,
    first_from: Integers, first_edge: Integers, parent: Integers, seen: Integers, found: Integers,
) -> None:
    """Enter the edges of ``v``, which has color ``c`` now, in trees, and join those that meet."""
    for at in range(indptr[v], indptr[v + 1]):
        w = indices[at]
        if colors[w] < 0:
            continue
        mine = min(at, mirror[at])
        while parent[mine] != mine:
            mine = parent[mine]
        if first_from[colors[w]] != v:
            first_from[colors[w]] = v
            first_edge[colors[w]] = at
            seen[indptr[v] + found[v]] = at
            found[v] += 1
        else:
            first = min(first_edge[colors[w]], mirror[first_edge[colors[w]]])
            while parent[first] != first:
                first = parent[first]
            if first != mine:
                parent[mine] = first
                mine = first
        joined = -1
        for place in range(indptr[w], indptr[w] + found[w]):
            if colors[indices[seen[place]]] == c:
                joined = seen[place]
                break
        if joined >= 0:
            tree = min(joined, mirror[joined])
            while parent[tree] != tree:
                parent[tree] = parent[parent[tree]]
                tree = parent[tree]
            if tree != mine:
                parent[tree] = mine
        else:
            seen[indptr[w] + found[w]] = mirror[at]
            found[w] += 1


@kernel
def acyclic_kernel(indptr: Integers, indices: Integers, mirror: Integers, visits: Integers) -> Any:
    """Color so that every cycle has three colors (algorithm 3.1, 2007).

    The edges between two colors form trees, which are kept as disjoint sets of edges. Edges from a
    vertex to all neighbours of one color are in one tree, so that the first of them stands for all,
    as in ``star_kernel``.
    """
    n = len(indptr) - 1
    seen = full(len(indices), 0)
    found = full(n, 0)
    colors = full(n, -1)
    forbidden = full(n + 1, -1)
    first_from = full(n + 1, -1)
    first_edge = full(n + 1, -1)
    visited = full(len(indices), -1)  # by tree: the vertex that reached it last
    visited_from = full(len(indices), -1)
    parent = full(len(indices), 0)
    for tree in range(len(indices)):
        parent[tree] = tree
    for v in visits:
        forbid_cycles(
            v, indptr, indices, mirror, colors, forbidden, parent, visited, visited_from, seen,
            found,
        )
        c = free_color(forbidden, v)
        colors[v] = c
        join_trees(
            v, c, indptr, indices, mirror, colors, first_from, first_edge, parent, seen, found
        )
    return colors


@kernel
def substitution_order_kernel(
    indptr: Integers, indices: Integers, colors: Integers, mirror: Integers, count: int
) -> Any:
    """Return the edges of an acyclic coloring in the order in which they can be solved for.

    Each is the position of a nonzero (v, w) where v is, by then, a leaf of its two-colored tree:
    all other entries of row v in the color of w are known.
    """
    n = len(indptr) - 1
    left = full(n * count, 0)  # by (vertex, color): edges that are not known yet
    for v in range(n):
        for at in range(indptr[v], indptr[v + 1]):
            left[v * count + colors[indices[at]]] += 1
    known = full(len(indices), False)
    order = full(len(indices) // 2, 0)
    queue = full(len(indices), 0)
    first = 0
    last = 0
    for v in range(n):
        for at in range(indptr[v], indptr[v + 1]):
            if left[v * count + colors[indices[at]]] == 1:
                queue[last] = at
                last += 1
    owner = full(len(indices), 0)
    for v in range(n):
        for at in range(indptr[v], indptr[v + 1]):
            owner[at] = v
    found = 0
    while first < last:
        at = queue[first]
        first += 1
        if known[at]:
            continue
        v = owner[at]
        w = indices[at]
        known[at] = True
        known[mirror[at]] = True
        order[found] = at
        found += 1
        left[v * count + colors[w]] -= 1
        key = w * count + colors[v]
        left[key] -= 1
        if left[key] == 1:
            for other in range(indptr[w], indptr[w + 1]):
                if not known[other] and colors[indices[other]] == colors[v]:
                    queue[last] = other
                    last += 1
    return order[:found]


@kernel
def substitution_kernel(
    order: Integers, owner: Integers, indices: Integers, mirror: Integers, colors: Integers,
    sums: Array, values: Array,
) -> None:
    """Solve for the nonzeros in ``order``, and store them with their mirror images in ``values``.

    ``sums[c, v]`` is the sum of row v over the columns of color c, less what is known; it is
    overwritten.
    """
    for at in order:
        v = owner[at]
        w = indices[at]
        value = sums[colors[w], v]
        values[at] = value
        values[mirror[at]] = value
        sums[colors[w], v] -= value
        sums[colors[v], w] -= value
