"""What machine code tests of the results of loops, as LLVM IR: are all numbers finite?

``adcompiler_finite`` is a function of Python's of one argument (``METH_O``). It is true of floats,
arrays of float64 without gaps, and tuples of such, that are all finite. Of what it does not know
it is false: the caller looks again.
"""

from __future__ import annotations

FINITE = '''
@PyFloat_Type = external global i8
@PyTuple_Type = external global i8
@_Py_TrueStruct = external global i8
@_Py_FalseStruct = external global i8
@adcompiler_type_of_floats = external global i8

define internal i1 @finite_numbers(ptr %data, i64 %count) {
entry:
  %some = icmp sgt i64 %count, 0
  br i1 %some, label %next, label %fine
next:
  %at = phi i64 [ 0, %entry ], [ %after, %next ]
  %before = phi i64 [ 0, %entry ], [ %wrong, %next ]
  %place = getelementptr inbounds i64, ptr %data, i64 %at
  %bits = load i64, ptr %place, align 8
  %exponent = and i64 %bits, 9218868437227405312
  %full = icmp eq i64 %exponent, 9218868437227405312
  %one = zext i1 %full to i64
  %wrong = or i64 %before, %one
  %after = add nuw nsw i64 %at, 1
  %end = icmp eq i64 %after, %count
  br i1 %end, label %tested, label %next
tested:
  %all = icmp eq i64 %wrong, 0
  ret i1 %all
fine:
  ret i1 true
}

; an array: of float64 in the machine's byte order, aligned, in C or Fortran order
define internal i1 @finite_array(ptr %array) {
entry:
  %description_place = getelementptr i8, ptr %array, i64 56
  %description = load ptr, ptr %description_place
  %number_place = getelementptr i8, ptr %description, i64 28
  %number = load i32, ptr %number_place
  %float = icmp eq i32 %number, 12
  %order_place = getelementptr i8, ptr %description, i64 26
  %order = load i8, ptr %order_place
  %native = icmp eq i8 %order, 61
  %flags_place = getelementptr i8, ptr %array, i64 64
  %flags = load i32, ptr %flags_place
  %aligned = and i32 %flags, 256
  %is_aligned = icmp ne i32 %aligned, 0
  %ordered = and i32 %flags, 3
  %is_ordered = icmp ne i32 %ordered, 0
  %a = and i1 %float, %native
  %b = and i1 %is_aligned, %is_ordered
  %known = and i1 %a, %b
  br i1 %known, label %sized, label %unknown
sized:
  %data_place = getelementptr i8, ptr %array, i64 16
  %data = load ptr, ptr %data_place
  %axes_place = getelementptr i8, ptr %array, i64 24
  %axes = load i32, ptr %axes_place
  %lengths_place = getelementptr i8, ptr %array, i64 32
  %lengths = load ptr, ptr %lengths_place
  br label %axis
axis:
  %at = phi i32 [ 0, %sized ], [ %after, %times ]
  %count = phi i64 [ 1, %sized ], [ %more, %times ]
  %end = icmp eq i32 %at, %axes
  br i1 %end, label %test, label %times
times:
  %length_place = getelementptr i64, ptr %lengths, i32 %at
  %length = load i64, ptr %length_place
  %more = mul i64 %count, %length
  %after = add i32 %at, 1
  br label %axis
test:
  %all = call i1 @finite_numbers(ptr %data, i64 %count)
  ret i1 %all
unknown:
  ret i1 false
}

define internal i1 @finite(ptr %object, i32 %depth) {
entry:
  %type_place = getelementptr i8, ptr %object, i64 8
  %type = load ptr, ptr %type_place
  %is_array = icmp eq ptr %type, @adcompiler_type_of_arrays
  br i1 %is_array, label %array, label %no_array
array:
  %of_array = call i1 @finite_array(ptr %object)
  ret i1 %of_array
no_array:
  %is_float = icmp eq ptr %type, @PyFloat_Type
  %is_number = icmp eq ptr %type, @adcompiler_type_of_floats
  %either = or i1 %is_float, %is_number
  br i1 %either, label %float, label %no_float
float:
  %value_place = getelementptr i8, ptr %object, i64 16
  %of_float = call i1 @finite_numbers(ptr %value_place, i64 1)
  ret i1 %of_float
no_float:
  %is_tuple = icmp eq ptr %type, @PyTuple_Type
  %is_flat = icmp ult i32 %depth, 16
  %looked_into = and i1 %is_tuple, %is_flat
  br i1 %looked_into, label %tuple, label %unknown
tuple:
  %count_place = getelementptr i8, ptr %object, i64 16
  %count = load i64, ptr %count_place
  %deeper = add i32 %depth, 1
  br label %next
next:
  %at = phi i64 [ 0, %tuple ], [ %after, %item ]
  %end = icmp eq i64 %at, %count
  br i1 %end, label %fine, label %item
item:
  %offset = add i64 %at, 3
  %place = getelementptr ptr, ptr %object, i64 %offset
  %part = load ptr, ptr %place
  %after = add i64 %at, 1
  %of_part = call i1 @finite(ptr %part, i32 %deeper)
  br i1 %of_part, label %next, label %unknown
fine:
  ret i1 true
unknown:
  ret i1 false
}

define ptr @adcompiler_finite(ptr %self, ptr %object) {
  %all = call i1 @finite(ptr %object, i32 0)
  %answer = select i1 %all, ptr @_Py_TrueStruct, ptr @_Py_FalseStruct
  call void @Py_IncRef(ptr %answer)
  ret ptr %answer
}
'''
