"""The name of a special method in, the syntax or function that calls it out."""

from __future__ import annotations

from typing import Final

_CALLED_BY: Final = {
    "__new__": "`Class(...)`, to make the object",
    "__init__": "`Class(...)`, to fill the new object",
    "__post_init__": "the generated `__init__`, at its end",
    "__del__": "the interpreter, when the object is freed",
    "__init_subclass__": "each `class Sub(Class)`",
    "__set_name__": "the creation of the class that holds it",
    "__class_getitem__": "`Class[key]`",
    "__call__": "`x(...)`",
    "__enter__": "`with x`, at its start",
    "__exit__": "`with x`, at its end",
    "__aenter__": "`async with x`, at its start",
    "__aexit__": "`async with x`, at its end",
    "__iter__": "`for y in x`, `iter(x)`",
    "__next__": "`for`, `next(x)`",
    "__aiter__": "`async for y in x`",
    "__anext__": "`async for`",
    "__await__": "`await x`",
    "__reversed__": "`reversed(x)`",
    "__len__": "`len(x)`, and truth where there is no `__bool__`",
    "__length_hint__": "`list(x)`, to reserve room",
    "__contains__": "`y in x`",
    "__getitem__": "`x[key]`",
    "__setitem__": "`x[key] = value`",
    "__delitem__": "`del x[key]`",
    "__missing__": "`x[key]` of a dict, where the key is missing",
    "__getattr__": "`x.name`, where the name is not found",
    "__getattribute__": "every `x.name`",
    "__setattr__": "`x.name = value`",
    "__delattr__": "`del x.name`",
    "__dir__": "`dir(x)`",
    "__get__": "`owner.name`, as a descriptor",
    "__set__": "`owner.name = value`, as a descriptor",
    "__delete__": "`del owner.name`, as a descriptor",
    "__repr__": "`repr(x)`, and `str(x)` where there is no `__str__`",
    "__str__": "`str(x)`, `print(x)`",
    "__format__": "`format(x)`, f-strings",
    "__bytes__": "`bytes(x)`",
    "__hash__": "`hash(x)`, sets and dict keys",
    "__bool__": "`bool(x)`, `if x`",
    "__eq__": "`x == y`",
    "__ne__": "`x != y`",
    "__lt__": "`x < y`, sorting",
    "__le__": "`x <= y`",
    "__gt__": "`x > y`",
    "__ge__": "`x >= y`",
    "__neg__": "`-x`",
    "__pos__": "`+x`",
    "__abs__": "`abs(x)`",
    "__invert__": "`~x`",
    "__int__": "`int(x)`",
    "__float__": "`float(x)`",
    "__complex__": "`complex(x)`",
    "__index__": "`range(x)`, indexing, `bin(x)`",
    "__round__": "`round(x)`",
    "__trunc__": "`math.trunc(x)`",
    "__floor__": "`math.floor(x)`",
    "__ceil__": "`math.ceil(x)`",
    "__copy__": "`copy.copy(x)`",
    "__deepcopy__": "`copy.deepcopy(x)`",
    "__reduce__": "pickling",
    "__reduce_ex__": "pickling",
    "__getstate__": "pickling, for the state to save",
    "__setstate__": "unpickling, with the saved state",
    "__getnewargs__": "unpickling, for the arguments of `__new__`",
    "__sizeof__": "`sys.getsizeof(x)`",
    "__instancecheck__": "`isinstance(y, x)`",
    "__subclasscheck__": "`issubclass(y, x)`",
    "__subclasshook__": "`issubclass(y, Class)`",
    "__prepare__": "`class` statements, for their namespace",
    "__mro_entries__": "`class Sub(x)`",
    "__fspath__": "`open(x)`, `os.fspath(x)`",
    "__array__": "`numpy.asarray(x)`",
    "__array_ufunc__": "NumPy's universal functions",
    "__array_function__": "NumPy's functions",
    "__torch_function__": "torch's functions, in place of them",
    "__torch_dispatch__": "torch's operators, below autograd",
    "__tensor_flatten__": "torch.compile, to take a tensor subclass apart",
    "__tensor_unflatten__": "torch.compile, to put a tensor subclass together",
}
_ARITHMETIC: Final = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
    "and": "&",
    "or": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
    "divmod": "divmod",
}


def called_by(name: str) -> str:
    """What calls a special method; empty for a name that Python does not know."""
    known = _CALLED_BY.get(name, "")
    if known or not (name.startswith("__") and name.endswith("__")):
        return known
    bare = name[2:-2]
    for prefix, form in (("", "`x {} y`"), ("r", "`y {} x`"), ("i", "`x {}= y`")):
        sign = _ARITHMETIC.get(bare.removeprefix(prefix)) if bare.startswith(prefix) else None
        if sign == "divmod":
            return "`divmod(x, y)`"
        if sign:
            return form.format(sign)
    return ""
