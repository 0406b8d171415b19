"""How often each kind of statement is written: one weight per method of the ``Writer``.

A program draws its own weights from a table here: some kinds are left out, some come often. Kinds
that get in each other's way are then found apart, and rare combinations together.
"""

from __future__ import annotations

from random import Random

Weights = dict[str, int]

# Statements that only bind names, and control flow.
BINDING: Weights = {
    "assign": 3, "augment": 1, "unpack": 1, "swap": 1, "pack": 1, "walrus": 1, "retype": 1,
    "assertion": 1,
}
CONTROL: Weights = {"branch": 2, "for_loop": 2, "while_loop": 1, "closure": 1, "maybe": 1}
LEAVING: Weights = {"leave": 2, "early_return": 1}

# Statements that write into arrays, lists and dicts.
STORES: Weights = {
    "store": 4, "augmented_store": 4, "whole_store": 1, "whole_augment": 2, "overlap": 2,
    "chained_store": 1, "tuple_store": 1, "swap_elements": 1, "swap_rows": 1, "recurrence": 1,
    "ufunc_out": 1, "numpy_writer": 2, "scatter_add": 1, "sort_in_place": 1,
}
VIEWS: Weights = {
    "buffer": 2, "view": 3, "view_then_write": 3, "read_only_view": 1, "split_view": 1,
    "view_in_container": 1,
}
ALIASES: Weights = {
    "alias": 2, "chosen_alias": 1, "branch_alias": 1, "swap_names": 1, "double_buffer": 1,
    "same_in_container": 1, "returned_argument": 1,
}
CONTAINERS: Weights = {
    "new_list": 1, "grow": 3, "shrink": 1, "list_store": 2, "list_order": 1, "collected": 1,
    "array_list": 1, "array_list_store": 2, "grid": 1, "grid_store": 1, "dict_store": 2,
    "stack_machine": 1, "boxed": 1, "array_stack": 1, "lazy": 1, "entries": 1,
}
PROCEDURES: Weights = {"call_procedure": 3, "writing_closure": 1, "push_closure": 1}

WRITE_FREE: Weights = {**BINDING, **CONTROL, **LEAVING}
WRITING: Weights = {
    **BINDING, **CONTROL, "leave": 4, "early_return": 4,
    **{name: 2 * weight for group in (STORES, VIEWS, ALIASES, CONTAINERS, PROCEDURES)
       for name, weight in group.items()},
    "branch": 4, "for_loop": 6, "while_loop": 2, "closure": 2, "attempt": 3,
}

EVERYDAY: Weights = {
    "output_argument": 4, "several_outputs": 2, "mixed_numbers": 2, "growing_tuple": 2,
    "called_by_one_another": 1, "default_axes": 1,
}
EVERYTHING: Weights = {**WRITING, **{name: 4 * weight for name, weight in EVERYDAY.items()}}

WRITES = frozenset({"output_argument", *STORES, *VIEWS, *ALIASES, *CONTAINERS, *PROCEDURES})
COMPOUND = frozenset({*CONTROL, "attempt", "recurrence", "double_buffer", "branch_alias",
                      "collected", "writing_closure", "push_closure", "stack_machine",
                      "array_stack", "lazy", "entries"})
ALWAYS = frozenset({"assign", "store", "augmented_store"})


def drawn(weights: Weights, rng: Random) -> Weights:
    """Return weights for one program: each kind left out, kept, or tripled."""
    return {
        name: weight * (1 if name in ALWAYS else (1, 0, 1, 3)[rng.randrange(4)])
        for name, weight in weights.items()
    }
