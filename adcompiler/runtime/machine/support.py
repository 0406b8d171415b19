"""What compiled loops call, as LLVM IR: storage kept between calls, arrays for Python, BLAS.

A block of storage has 64 bytes in front of its elements: how many refer to it, an object that owns
the elements (or the next block of those that wait), and its size if it is kept when nobody refers
to it any more. Such blocks wait in lists by size, four sizes for each power of two, to be taken
again. Who finds the lists in use (threads, a process forked meanwhile) does without them.
"""

from __future__ import annotations

import sys

SMALL, BINS = 16384, 264
"""Blocks up to this size are those of ``malloc``; larger ones are kept, in so many lists."""

STORAGE = f'''
@bins = internal global [{BINS} x ptr] zeroinitializer
@waiting = internal global i64 0
@in_use = internal global i8 0
@adcompiler_submit = external global i8
@adcompiler_limit = global i64 268435456
declare ptr @malloc(i64)
declare ptr @aligned_alloc(i64, i64)
declare void @free(ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyCapsule_New(ptr, ptr, ptr)
declare ptr @PyCapsule_GetPointer(ptr, ptr)
declare ptr @adcompiler_array_new(ptr, i32, ptr, i32, ptr, ptr, i32, i32, ptr)
declare ptr @adcompiler_array_copy(ptr, i32)
declare i32 @adcompiler_array_base(ptr, ptr)
@adcompiler_type_of_arrays = external global i8
declare i64 @llvm.ctlz.i64(i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare ptr @PyByteArray_FromStringAndSize(ptr, i64)
declare ptr @PyByteArray_AsString(ptr)
declare ptr @PyLong_FromLongLong(i64)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare i32 @sched_yield()
declare i32 @usleep(i32)

; take the lists, unless they are in use
define internal i1 @take_lists() alwaysinline {{
  %before = atomicrmw xchg ptr @in_use, i8 1 acquire
  %free = icmp eq i8 %before, 0
  ret i1 %free
}}

; the list for blocks of a size, which has at most three bits set from its first one on
define internal ptr @bin(i64 %size) alwaysinline {{
  %zeros = call i64 @llvm.ctlz.i64(i64 %size, i1 true)
  %log = sub i64 63, %zeros
  %shift = sub i64 %log, 2
  %high = lshr i64 %size, %shift
  %part = and i64 %high, 3
  %four = shl i64 %log, 2
  %index = or i64 %four, %part
  %bin = getelementptr [{BINS} x ptr], ptr @bins, i64 0, i64 %index
  ret ptr %bin
}}

; let go of all blocks that wait
define void @adcompiler_drain() {{
entry:
  %taken = call i1 @take_lists()
  br i1 %taken, label %next, label %left
next:
  %index = phi i64 [ 0, %entry ], [ %index, %one ], [ %after, %empty ]
  %bin = getelementptr [{BINS} x ptr], ptr @bins, i64 0, i64 %index
  %block = load ptr, ptr %bin
  %none = icmp eq ptr %block, null
  br i1 %none, label %empty, label %one
one:
  %link = getelementptr i8, ptr %block, i64 8
  %following = load ptr, ptr %link
  store ptr %following, ptr %bin
  call void @free(ptr %block)
  br label %next
empty:
  %after = add i64 %index, 1
  %end = icmp eq i64 %after, {BINS}
  br i1 %end, label %done, label %next
done:
  store i64 0, ptr @waiting
  store atomic i8 0, ptr @in_use release, align 1
  ret void
left:
  ret void
}}

define internal ptr @begun(ptr %block, i64 %size) alwaysinline {{
  %none = icmp eq ptr %block, null
  br i1 %none, label %done, label %some
some:
  store i64 1, ptr %block
  %owner = getelementptr i8, ptr %block, i64 8
  store ptr null, ptr %owner
  %place = getelementptr i8, ptr %block, i64 16
  store i64 %size, ptr %place
  br label %done
done:
  ret ptr %block
}}

; storage for so many bytes, or null
define ptr @adcompiler_block(i64 %bytes) {{
  %total = add i64 %bytes, 64
  %is_small = icmp ule i64 %total, {SMALL}
  br i1 %is_small, label %small, label %large
small:
  %plain = call ptr @malloc(i64 %total)
  %first = call ptr @begun(ptr %plain, i64 0)
  ret ptr %first
large:
  %zeros = call i64 @llvm.ctlz.i64(i64 %total, i1 true)
  %shift = sub i64 61, %zeros
  %unit = shl i64 1, %shift
  %less = sub i64 %unit, 1
  %more = add i64 %total, %less
  %mask = xor i64 %less, -1
  %size = and i64 %more, %mask
  %taken = call i1 @take_lists()
  br i1 %taken, label %look, label %fresh
look:
  %bin = call ptr @bin(i64 %size)
  %block = load ptr, ptr %bin
  %none = icmp eq ptr %block, null
  br i1 %none, label %nothing, label %again
nothing:
  store atomic i8 0, ptr @in_use release, align 1
  br label %fresh
again:
  %link = getelementptr i8, ptr %block, i64 8
  %following = load ptr, ptr %link
  store ptr %following, ptr %bin
  %held = load i64, ptr @waiting
  %rest = sub i64 %held, %size
  store i64 %rest, ptr @waiting
  store atomic i8 0, ptr @in_use release, align 1
  %second = call ptr @begun(ptr %block, i64 %size)
  ret ptr %second
fresh:
  %new = call ptr @aligned_alloc(i64 64, i64 %size)
  %short = icmp eq ptr %new, null
  br i1 %short, label %drained, label %there
drained:
  call void @adcompiler_drain()
  %last = call ptr @aligned_alloc(i64 64, i64 %size)
  br label %there
there:
  %found = phi ptr [ %new, %fresh ], [ %last, %drained ]
  %third = call ptr @begun(ptr %found, i64 %size)
  ret ptr %third
}}

; nobody refers to a block any more
define void @adcompiler_free(ptr %block) {{
  %place = getelementptr i8, ptr %block, i64 8
  %owner = load ptr, ptr %place
  %owned = icmp ne ptr %owner, null
  br i1 %owned, label %object, label %plain
object:
  call void @free(ptr %block)
  call void @Py_DecRef(ptr %owner)
  ret void
plain:
  %size_place = getelementptr i8, ptr %block, i64 16
  %size = load i64, ptr %size_place
  %is_small = icmp eq i64 %size, 0
  br i1 %is_small, label %freed, label %large
large:
  %taken = call i1 @take_lists()
  br i1 %taken, label %look, label %freed
look:
  %held = load i64, ptr @waiting
  %then = add i64 %held, %size
  %limit = load i64, ptr @adcompiler_limit
  %room = icmp ule i64 %then, %limit
  br i1 %room, label %kept, label %full
full:
  store atomic i8 0, ptr @in_use release, align 1
  br label %freed
kept:
  store i64 %then, ptr @waiting
  %bin = call ptr @bin(i64 %size)
  %following = load ptr, ptr %bin
  store ptr %following, ptr %place
  store ptr %block, ptr %bin
  store atomic i8 0, ptr @in_use release, align 1
  ret void
freed:
  call void @free(ptr %block)
  ret void
}}

define internal void @released(ptr %capsule) {{
  %block = call ptr @PyCapsule_GetPointer(ptr %capsule, ptr null)
  call void @release(ptr %block)
  ret void
}}

define internal void @release(ptr %block) {{
  %count = load i64, ptr %block
  %less = sub i64 %count, 1
  store i64 %less, ptr %block
  %last = icmp eq i64 %less, 0
  br i1 %last, label %free, label %done
free:
  call void @adcompiler_free(ptr %block)
  br label %done
done:
  ret void
}}

; an array that takes over a reference to a block
define ptr @adcompiler_box(
    ptr %block, ptr %data, i32 %axes, ptr %lengths, ptr %strides, i32 %type, i64 %size) {{
  %item = trunc i64 %size to i32
  %array = call ptr @adcompiler_array_new(
      ptr @adcompiler_type_of_arrays, i32 %axes, ptr %lengths, i32 %type, ptr %strides, ptr %data,
      i32 %item, i32 1280, ptr null)
  %none = icmp eq ptr %array, null
  br i1 %none, label %failed, label %made
made:
  %capsule = call ptr @PyCapsule_New(ptr %block, ptr null, ptr @released)
  %missing = icmp eq ptr %capsule, null
  br i1 %missing, label %dropped, label %held
held:
  %wrong = call i32 @adcompiler_array_base(ptr %array, ptr %capsule)
  ret ptr %array
dropped:
  call void @Py_DecRef(ptr %array)
  br label %failed
failed:
  call void @release(ptr %block)
  ret ptr null
}}

; an array over storage of the loops; a copy of what a caller's array holds
define ptr @adcompiler_view(
    ptr %block, ptr %data, i32 %axes, ptr %lengths, ptr %strides, i32 %type, i64 %size) {{
  %given = icmp eq ptr %block, null
  br i1 %given, label %copied, label %counted
counted:
  %count = load i64, ptr %block
  %more = add i64 %count, 1
  store i64 %more, ptr %block
  %view = call ptr @adcompiler_box(
      ptr %block, ptr %data, i32 %axes, ptr %lengths, ptr %strides, i32 %type, i64 %size)
  ret ptr %view
copied:
  %item = trunc i64 %size to i32
  %array = call ptr @adcompiler_array_new(
      ptr @adcompiler_type_of_arrays, i32 %axes, ptr %lengths, i32 %type, ptr %strides, ptr %data,
      i32 %item, i32 1280, ptr null)
  %none = icmp eq ptr %array, null
  br i1 %none, label %failed, label %made
made:
  %copy = call ptr @adcompiler_array_copy(ptr %array, i32 2)
  call void @Py_DecRef(ptr %array)
  ret ptr %copy
failed:
  ret ptr null
}}

; an array that is returned: it takes over a reference to a block, or is a copy
define ptr @adcompiler_result(
    ptr %block, ptr %data, i32 %axes, ptr %lengths, ptr %strides, i32 %type, i64 %size) {{
  %given = icmp eq ptr %block, null
  br i1 %given, label %copied, label %counted
counted:
  %array = call ptr @adcompiler_box(
      ptr %block, ptr %data, i32 %axes, ptr %lengths, ptr %strides, i32 %type, i64 %size)
  ret ptr %array
copied:
  %copy = call ptr @adcompiler_view(
      ptr %block, ptr %data, i32 %axes, ptr %lengths, ptr %strides, i32 %type, i64 %size)
  ret ptr %copy
}}

; a block that stands for an object; where there is no memory for one the object stays for good
define ptr @adcompiler_hold(ptr %object) {{
  call void @Py_IncRef(ptr %object)
  %block = call ptr @malloc(i64 64)
  %held = call ptr @begun(ptr %block, i64 0)
  %none = icmp eq ptr %held, null
  br i1 %none, label %done, label %some
some:
  %owner = getelementptr i8, ptr %held, i64 8
  store ptr %object, ptr %owner
  br label %done
done:
  ret ptr %held
}}

; A job: the next block, how many threads are at it, whether it is over, what takes blocks, and its
; context. A thread that comes late, when the context is gone, finds that the job is over.
define void @adcompiler_help(ptr %job) {{
  %helpers = getelementptr i64, ptr %job, i64 1
  %before = atomicrmw add ptr %helpers, i64 1 seq_cst
  %over_place = getelementptr i64, ptr %job, i64 2
  %over = load atomic i64, ptr %over_place seq_cst, align 8
  %is_over = icmp ne i64 %over, 0
  br i1 %is_over, label %done, label %work
work:
  %worker_place = getelementptr i64, ptr %job, i64 3
  %worker = load ptr, ptr %worker_place
  %context_place = getelementptr i64, ptr %job, i64 4
  %context = load ptr, ptr %context_place
  call void %worker(ptr %job, ptr %context)
  br label %done
done:
  %after = atomicrmw sub ptr %helpers, i64 1 seq_cst
  ret void
}}

; let threads take blocks, and wait for all; this one goes on without Python's global lock
define i32 @adcompiler_in_threads(ptr %worker, ptr %context, i64 %count) {{
  %own = alloca [5 x i64]
  %args = alloca [2 x ptr]
  %several = icmp sgt i64 %count, 1
  br i1 %several, label %threads, label %alone
alone:
  store i64 0, ptr %own
  call void %worker(ptr %own, ptr %context)
  ret i32 0
threads:
  %object = call ptr @PyByteArray_FromStringAndSize(ptr null, i64 40)
  %none = icmp eq ptr %object, null
  br i1 %none, label %failed, label %begin
begin:
  %job = call ptr @PyByteArray_AsString(ptr %object)
  call void @llvm.memset.p0.i64(ptr %job, i8 0, i64 24, i1 false)
  %worker_place = getelementptr i64, ptr %job, i64 3
  store ptr %worker, ptr %worker_place
  %context_place = getelementptr i64, ptr %job, i64 4
  store ptr %context, ptr %context_place
  %number = call ptr @PyLong_FromLongLong(i64 %count)
  %missing = icmp eq ptr %number, null
  br i1 %missing, label %dropped, label %submit
submit:
  store ptr %object, ptr %args
  %second = getelementptr ptr, ptr %args, i64 1
  store ptr %number, ptr %second
  %answer = call ptr @PyObject_Vectorcall(ptr @adcompiler_submit, ptr %args, i64 2, ptr null)
  call void @Py_DecRef(ptr %number)
  %raised = icmp eq ptr %answer, null
  %state = call ptr @PyEval_SaveThread()
  br i1 %raised, label %end, label %help
help:
  call void @adcompiler_help(ptr %job)
  br label %end
end:
  %over_place = getelementptr i64, ptr %job, i64 2
  store atomic i64 1, ptr %over_place seq_cst, align 8
  %helpers_place = getelementptr i64, ptr %job, i64 1
  br label %wait
wait:
  %tries = phi i64 [ 0, %end ], [ %next, %yield ], [ %next, %sleep ]
  %next = add i64 %tries, 1
  %helpers = load atomic i64, ptr %helpers_place seq_cst, align 8
  %finished = icmp eq i64 %helpers, 0
  br i1 %finished, label %all, label %more
more:
  %long = icmp ugt i64 %tries, 50
  br i1 %long, label %sleep, label %yield
yield:
  %yielded = call i32 @sched_yield()
  br label %wait
sleep:
  %slept = call i32 @usleep(i32 50)
  br label %wait
all:
  call void @PyEval_RestoreThread(ptr %state)
  call void @Py_DecRef(ptr %object)
  br i1 %raised, label %failed, label %came
came:
  call void @Py_DecRef(ptr %answer)
  ret i32 0
dropped:
  call void @Py_DecRef(ptr %object)
  br label %failed
failed:
  ret i32 3
}}
'''

ON_WINDOWS = {
    "ptr @aligned_alloc(i64 64, i64": "ptr @malloc(i64", "declare ptr @aligned_alloc(i64, i64)": "",
    "@sched_yield": "@SwitchToThread", "@usleep(i32 50)": "@usleep(i32 1)", "@usleep(": "@Sleep(",
}
"""What functions of the system are called there, as they are spelled elsewhere."""
if sys.platform == "win32":
    for spelled, instead in ON_WINDOWS.items():
        STORAGE = STORAGE.replace(spelled, instead)

PRODUCTS = '''
declare void @adcompiler_dgemm(ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr)
declare void @adcompiler_dgemv(ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr)
declare double @adcompiler_ddot(ptr, ptr, ptr, ptr, ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
@one = internal constant double 1.0
@zero = internal constant double 0.0
@step = internal constant i32 1
@plain = internal constant i8 110
@turned = internal constant i8 116

; a matrix times a vector: as it lies in memory, or turned
define internal void @matrix_times(ptr %out, ptr %a, ptr %x, i32 %down, i32 %across, i1 %turn) {
  %rows = alloca i32
  %columns = alloca i32
  store i32 %down, ptr %rows
  store i32 %across, ptr %columns
  %how = select i1 %turn, ptr @turned, ptr @plain
  call void @adcompiler_dgemv(ptr %how, ptr %rows, ptr %columns, ptr @one, ptr %a, ptr %rows,
      ptr %x, ptr @step, ptr @zero, ptr %out, ptr @step)
  ret void
}

; out = a b, of matrices in C order, or turned from there; false where there are too many rows
define i1 @adcompiler_dot(
    ptr %out, ptr %a, ptr %b, i64 %m, i64 %k, i64 %n, i1 %a_turned, i1 %b_turned) {
  %p = or i64 %m, %k
  %q = or i64 %p, %n
  %large = icmp ugt i64 %q, 2147483647
  br i1 %large, label %no, label %go
no:
  ret i1 false
go:
  %rows = trunc i64 %m to i32
  %inner = trunc i64 %k to i32
  %columns = trunc i64 %n to i32
  %mi = alloca i32
  %ki = alloca i32
  %ni = alloca i32
  store i32 %rows, ptr %mi
  store i32 %inner, ptr %ki
  store i32 %columns, ptr %ni
  %none = icmp eq i64 %k, 0
  %no_rows = icmp eq i64 %m, 0
  %no_columns = icmp eq i64 %n, 0
  %r = or i1 %none, %no_rows
  %empty = or i1 %r, %no_columns
  br i1 %empty, label %zeros, label %some
zeros:
  %size = mul i64 %m, %n
  %bytes = mul i64 %size, 8
  call void @llvm.memset.p0.i64(ptr %out, i8 0, i64 %bytes, i1 false)
  ret i1 true
some:
  %one_row = icmp eq i64 %m, 1
  %one_column = icmp eq i64 %n, 1
  br i1 %one_column, label %column, label %not_column
column:
  br i1 %one_row, label %vectors, label %times_column
vectors:
  %dot = call double @adcompiler_ddot(ptr %ki, ptr %a, ptr @step, ptr %b, ptr @step)
  store double %dot, ptr %out
  ret i1 true
times_column:
  %a_down = select i1 %a_turned, i32 %rows, i32 %inner
  %a_across = select i1 %a_turned, i32 %inner, i32 %rows
  %a_turn = xor i1 %a_turned, true
  call void @matrix_times(ptr %out, ptr %a, ptr %b, i32 %a_down, i32 %a_across, i1 %a_turn)
  ret i1 true
not_column:
  br i1 %one_row, label %row, label %matrices
row:
  %b_down = select i1 %b_turned, i32 %inner, i32 %columns
  %b_across = select i1 %b_turned, i32 %columns, i32 %inner
  call void @matrix_times(ptr %out, ptr %b, ptr %a, i32 %b_down, i32 %b_across, i1 %b_turned)
  ret i1 true
matrices:
  %first = select i1 %b_turned, ptr @turned, ptr @plain
  %second = select i1 %a_turned, ptr @turned, ptr @plain
  %first_step = select i1 %b_turned, ptr %ki, ptr %ni
  %second_step = select i1 %a_turned, ptr %mi, ptr %ki
  call void @adcompiler_dgemm(ptr %first, ptr %second, ptr %ni, ptr %mi, ptr %ki, ptr @one, ptr %b,
      ptr %first_step, ptr %a, ptr %second_step, ptr @zero, ptr %out, ptr %ni)
  ret i1 true
}
'''
