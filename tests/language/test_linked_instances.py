"""Instances that hold one another: linked lists, stacks and expressions built in the function."""

import numpy as np
import pytest

from adcompiler import ADError, grad
from tests.language.check import check
from tests.language.modes import Programs, agrees_in_every_mode, in_turn

X = np.array([0.7, 1.1, 0.4])
programs = Programs()


class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next


class Stack:
    def __init__(self):
        self.head = None

    def push(self, value):
        self.head = Node(value, self.head)

    def pop(self):
        value = self.head.value
        self.head = self.head.next
        return value


class Leaf:
    def __init__(self, value):
        self.value = value

    def result(self):
        return self.value


class Sum:
    def __init__(self, left, right):
        self.left = left
        self.right = right

    def result(self):
        return self.left.result() + self.right.result()


class Product(Sum):
    def result(self):
        return self.left.result() * self.right.result()


@programs
def run_along(x):
    node = Node(x[0], Node(x[1] ** 2, Node(x[2], None)))
    total = 0.0
    while node is not None:
        total += node.value * (1.0 + total)
        node = node.next
    return total


@programs
def built_in_front(x):
    head = None
    for i in range(3):
        head = Node(x[i] ** 2, head)
    total = 0.0
    while head is not None:
        total = total * 2.0 + head.value
        head = head.next
    return total


@programs
def built_at_the_end(x):
    head = Node(x[0], None)
    tail = head
    for i in range(1, 3):
        tail.next = Node(x[i] ** 2, None)
        tail = tail.next
    total, node = 0.0, head
    while node is not None:
        total = total * 2.0 + node.value
        node = node.next
    return total * x[0]


@programs
def turned_round(x):
    head = Node(x[0], Node(x[1], Node(x[2], None)))
    before = None
    while head is not None:
        following = head.next
        head.next = before
        before = head
        head = following
    return before.value * 3.0 + before.next.value ** 2 * before.next.next.value


@programs
def values_written(x):
    head = Node(x[0], Node(x[1] ** 2, Node(x[2], None)))
    node = head
    while node.next is not None:
        node.next.value += node.value * x[0]
        node.value *= x[1]
        node = node.next
    return head.value * head.next.value * node.value


@programs
def copied_into_another(x):
    node, other = Node(x[0], Node(x[1], Node(x[2], None))), None
    while node is not None:
        other = Node(node.value * 2.0, other)
        node = node.next
    total = 0.0
    while other is not None:
        total = total * x[0] + other.value
        other = other.next
    return total


@programs
def stack_until_empty(x):
    stack, total = Stack(), 1.0
    for v in (x[0], x[1], x[2]):
        stack.push(v**2)
    while stack.head is not None:
        total = total * 2.0 + stack.pop()
    return total


@programs
def expression_built_in_a_loop(x):
    tree = Leaf(x[0])
    for i in range(3):
        tree = Sum(Product(tree, Leaf(x[i])), Leaf(1.0))
    return tree.result()


@pytest.mark.parametrize("function, modes", in_turn(programs, every=2))
def test_every_mode(function, modes):
    check(function, X)
    agrees_in_every_mode(function, X, modes)


def test_numbers_of_nodes_that_are_given():
    def last_of(x, n):
        head = None
        for k in range(n):
            head = Node(x * (k + 1.0), head)
        total = 0.0
        while head is not None:
            total = total * x + head.value
            head = head.next
        return total

    derivative = grad(last_of)
    for n in (1, 3, 2):
        step = 1e-6
        wanted = (last_of(1.3 + step, n) - last_of(1.3 - step, n)) / (2.0 * step)
        assert derivative(1.3, n) == pytest.approx(wanted, rel=1e-7)


def of_unknown_length(x):
    head, total = None, 0.0
    for v in x:
        head = Node(v * v, head)
    while head is not None:
        total += head.value
        head = head.next
    return total


def ring(x):
    first = Node(x[0], None)
    second = Node(x[1], first)
    first.next = second
    total = 0.0
    while first is not None:
        total += first.value
        first = first.next
    return total


@pytest.mark.parametrize("function", [of_unknown_length, ring])
def test_what_is_refused(function):
    with pytest.raises(ADError):
        grad(function)(X)
