"""C that printed loops call: arrays with strides and counted storage, sums as NumPy adds them."""

from __future__ import annotations

from adcompiler.backends.native.loops import BOOL, FLOAT, INT

NAMES = {FLOAT: "floats", INT: "ints", BOOL: "bools"}
"""The names of the types of arrays."""
ITEMS = {FLOAT: "double", INT: "int64_t", BOOL: "uint8_t"}
"""The types of their items."""

HEAD = '''#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define AXES 6
#define AT1(a, i) (a).data[(i) * (a).step[0]]
#define AT2(a, i, j) (a).data[(i) * (a).step[0] + (j) * (a).step[1]]
#define AT3(a, i, j, k) (a).data[(i) * (a).step[0] + (j) * (a).step[1] + (k) * (a).step[2]]
#define AT4(a, i, j, k, l) (AT3(a, i, j, k + 0) + 0)
#define LENGTHS(...) (const int64_t[]){__VA_ARGS__}

/* Python's quotient and remainder of integers: towards minus infinity. */
static inline int64_t floor_quotient(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static inline int64_t floor_remainder(int64_t a, int64_t b)
{
    int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
'''.replace("#define AT4(a, i, j, k, l) (AT3(a, i, j, k + 0) + 0)\n", "")

ARRAY = '''
/* An array: steps count items; storage is counted, and not owned where block is NULL. */
typedef struct {
    ITEM *data;
    int64_t shape[AXES], step[AXES], axes;
    int64_t *block;
} ARRAY;

void release_ARRAY(ARRAY *a)
{
    if (a->block && --*a->block == 0)
        free(a->block);
    memset(a, 0, sizeof *a);
}

/* Let a name stand for an array. */
static void bind_ARRAY(ARRAY *a, ARRAY b)
{
    if (b.block)
        ++*b.block;
    release_ARRAY(a);
    *a = b;
}

/* Make an array; false where memory is short. */
static bool make_ARRAY(ARRAY *a, int64_t axes, const int64_t *shape)
{
    ARRAY made = {.axes = axes};
    int64_t size = 1;
    for (int64_t i = axes - 1; i >= 0; i--) {
        made.shape[i] = shape[i];
        made.step[i] = size;
        size *= shape[i] > 0 ? shape[i] : 1;
    }
    made.block = malloc(2 * sizeof *made.block + size * sizeof(ITEM));
    if (!made.block)
        return false;
    *made.block = 1;
    made.data = (ITEM *)(made.block + 2);
    release_ARRAY(a);
    *a = made;
    return true;
}

static int64_t size_of_ARRAY(ARRAY a)
{
    int64_t size = 1;
    for (int64_t i = 0; i < a.axes; i++)
        size *= a.shape[i];
    return size;
}

static void fill_ARRAY(ARRAY a, ITEM value)
{
    int64_t size = size_of_ARRAY(a);
    for (int64_t i = 0; i < size; i++)
        a.data[i] = value;
}

/* Make room for so many items, keeping what is there. */
static bool reserve_ARRAY(ARRAY *a, int64_t size)
{
    if (a->shape[0] >= size)
        return true;
    ARRAY longer = {0};
    if (!make_ARRAY(&longer, 1, LENGTHS(size > 2 * a->shape[0] ? size : 2 * a->shape[0])))
        return false;
    memcpy(longer.data, a->data, a->shape[0] * sizeof(ITEM));
    release_ARRAY(a);
    *a = longer;
    return true;
}

/* Take one position of an axis: the axis is gone. */
static void pick_ARRAY(ARRAY *a, int64_t axis, int64_t position)
{
    a->data += position * a->step[axis];
    for (a->axes--; axis < a->axes; axis++) {
        a->shape[axis] = a->shape[axis + 1];
        a->step[axis] = a->step[axis + 1];
    }
}

static int64_t clipped_ARRAY(int64_t end, int64_t length, int64_t least, int64_t most)
{
    end += end < 0 ? length : 0;
    return end < least ? least : end > most ? most : end;
}

/* Take a slice of an axis; ends that are left out are told by has_lower and has_upper. */
static void slice_ARRAY(ARRAY *a, int64_t axis, bool has_lower, int64_t lower, bool has_upper,
                        int64_t upper, int64_t by)
{
    int64_t length = a->shape[axis], least = by < 0 ? -1 : 0, most = by < 0 ? length - 1 : length;
    int64_t first = has_lower ? clipped_ARRAY(lower, length, least, most) : by < 0 ? most : 0;
    int64_t last = has_upper ? clipped_ARRAY(upper, length, least, most) : by < 0 ? -1 : length;
    int64_t count = by < 0 ? (first - last - by - 1) / -by : (last - first + by - 1) / by;
    a->shape[axis] = count > 0 ? count : 0;
    a->data += count > 0 ? first * a->step[axis] : 0;
    a->step[axis] *= by;
}

/* Put an axis of length 1 in front of an axis. */
static void widen_ARRAY(ARRAY *a, int64_t axis)
{
    for (int64_t i = a->axes++; i > axis; i--) {
        a->shape[i] = a->shape[i - 1];
        a->step[i] = a->step[i - 1];
    }
    a->shape[axis] = 1;
    a->step[axis] = 0;
}

static void turn_ARRAY(ARRAY *a, const int64_t *order)
{
    ARRAY old = *a;
    for (int64_t i = 0; i < a->axes; i++) {
        a->shape[i] = old.shape[order[i]];
        a->step[i] = old.step[order[i]];
    }
}

/* Let a name stand for the items of an array in a row: copied unless they are in C order. */
static bool flatten_ARRAY(ARRAY *a, ARRAY of)
{
    int64_t size = size_of_ARRAY(of), step = 1;
    bool in_order = true;
    for (int64_t i = of.axes - 1; i >= 0; i--) {
        in_order = in_order && (of.shape[i] == 1 || of.step[i] == step);
        step *= of.shape[i];
    }
    if (in_order) {
        bind_ARRAY(a, of);
    } else {
        ARRAY row = {0};
        int64_t at[AXES] = {0};
        if (!make_ARRAY(&row, 1, LENGTHS(size)))
            return false;
        for (int64_t k = 0; k < size; k++) {
            int64_t place = 0;
            for (int64_t i = 0; i < of.axes; i++)
                place += at[i] * of.step[i];
            row.data[k] = of.data[place];
            for (int64_t i = of.axes - 1; i >= 0 && ++at[i] == of.shape[i]; i--)
                at[i] = 0;
        }
        release_ARRAY(a);
        *a = row;
    }
    a->axes = 1;
    a->shape[0] = size;
    a->step[0] = 1;
    return true;
}

/* Let a name stand for a part of a flat array, in a shape. */
static void view_ARRAY(ARRAY *a, ARRAY of, int64_t start, int64_t axes, const int64_t *shape)
{
    int64_t step = 1;
    bind_ARRAY(a, of);
    a->data += start;
    a->axes = axes;
    for (int64_t i = axes - 1; i >= 0; i--) {
        a->shape[i] = shape[i];
        a->step[i] = step;
        step *= shape[i];
    }
}
'''

SUMS = '''
/* The sum of items in a row, halves of it summed apart, as NumPy does. */
static double block_sum(const double *x, int64_t count)
{
    if (count > 128) {
        int64_t half = count / 2 - count / 2 % 8;
        return block_sum(x, half) + block_sum(x + half, count - half);
    }
    double r[8], total = -0.0;
    int64_t last = count - count % 8;
    if (last) {
        for (int64_t j = 0; j < 8; j++)
            r[j] = x[j];
        for (int64_t i = 8; i < last; i++)
            r[i % 8] += x[i];
        total = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    }
    for (int64_t i = last; i < count; i++)
        total += x[i];
    return total;
}

static double total_sum(floats x)
{
    return 0.0 + block_sum(x.data, x.shape[0]);
}

/* Sums of a flat array of shape (outer, count, inner) along its middle axis. */
static bool sums_along(floats *sums, floats x, int64_t outer, int64_t count, int64_t inner)
{
    if (!make_floats(sums, 1, LENGTHS(outer * inner)))
        return false;
    fill_floats(*sums, 0.0);
    for (int64_t i = 0; i < outer; i++) {
        if (inner == 1) {
            sums->data[i] = 0.0 + block_sum(x.data + i * count, count);
            continue;
        }
        for (int64_t k = 0; k < count; k++)
            for (int64_t j = 0; j < inner; j++)
                sums->data[i * inner + j] += x.data[(i * count + k) * inner + j];
    }
    return true;
}
'''
WHOLE_SUMS = '''
static bool whole_sums_along(ints *sums, ARRAY x, int64_t outer, int64_t count, int64_t inner)
{
    if (!make_ints(sums, 1, LENGTHS(outer * inner)))
        return false;
    fill_ints(*sums, 0);
    for (int64_t i = 0; i < outer; i++)
        for (int64_t k = 0; k < count; k++)
            for (int64_t j = 0; j < inner; j++)
                sums->data[i * inner + j] += x.data[(i * count + k) * inner + j];
    return true;
}
'''
EXTREMES = '''
static bool NAME_along(ARRAY *found, ARRAY x, int64_t outer, int64_t count, int64_t inner)
{
    if (!make_ARRAY(found, 1, LENGTHS(outer * inner)))
        return false;
    for (int64_t i = 0; i < outer; i++)
        for (int64_t j = 0; j < inner; j++) {
            ITEM best = x.data[i * count * inner + j];
            for (int64_t k = 1; k < count; k++) {
                ITEM value = x.data[(i * count + k) * inner + j];
                if (value SIGN best || value != value)
                    best = value;
            }
            found->data[i * inner + j] = best;
        }
    return true;
}
'''
PLACES = '''
static bool place_of_NAME_along(ints *found, ARRAY x, int64_t outer, int64_t count, int64_t inner)
{
    if (!make_ints(found, 1, LENGTHS(outer * inner)))
        return false;
    fill_ints(*found, 0);
    for (int64_t i = 0; i < outer; i++)
        for (int64_t j = 0; j < inner; j++) {
            ITEM best = x.data[i * count * inner + j];
            for (int64_t k = 1; k < count; k++) {
                ITEM value = x.data[(i * count + k) * inner + j];
                if (best == best && (value SIGN best || value != value)) {
                    best = value;
                    found->data[i * inner + j] = k;
                }
            }
        }
    return true;
}
'''
PRODUCT = '''
static bool matrix_product(floats *product, floats a, floats b)
{
    if (!make_floats(product, 2, LENGTHS(a.shape[0], b.shape[1])))
        return false;
    fill_floats(*product, 0.0);
    for (int64_t i = 0; i < a.shape[0]; i++)
        for (int64_t k = 0; k < a.shape[1]; k++) {
            double factor = AT2(a, i, k);
            for (int64_t j = 0; j < b.shape[1]; j++)
                AT2(*product, i, j) += factor * AT2(b, k, j);
        }
    return true;
}
'''
HELPERS = {
    "total_sum": (SUMS, None), "sums_along": (SUMS, FLOAT), "whole_sums_along": (WHOLE_SUMS, INT),
    "max_along": (EXTREMES.replace("NAME", "max").replace("SIGN", ">"), ""),
    "min_along": (EXTREMES.replace("NAME", "min").replace("SIGN", "<"), ""),
    "place_of_max_along": (PLACES.replace("NAME", "max").replace("SIGN", ">"), INT),
    "place_of_min_along": (PLACES.replace("NAME", "min").replace("SIGN", "<"), INT),
    "matrix_product": (PRODUCT, FLOAT),
}
"""The text of each helper, and the dtype of the array that it makes: empty for that of the array
given, None where it returns a float."""


def array_text(text: str, dtype: str) -> str:
    """Return C for arrays of a dtype."""
    return text.replace("ARRAY", NAMES[dtype]).replace("ITEM", ITEMS[dtype])
