"""Element types: our names, their sizes, and the names that nccl-tests, torch, numpy and nccom-test give them."""

from commbench.errors import UsageError

# bytes of one element; the order is the one that help texts show
ELEMENT_BYTES = {
    "float32": 4, "float16": 2, "bfloat16": 2, "float64": 8,
    "int8": 1, "uint8": 1, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8,
    "float8_e4m3": 1, "float8_e5m2": 1,
}  # fmt: skip

_ALIASES = {
    "float32": ("float", "fp32", "f32"),
    "float16": ("half", "fp16", "f16"),
    "bfloat16": ("bf16",),
    "float64": ("double", "fp64", "f64"),
    "int8": ("char", "i8"),
    "uint8": ("byte", "u8"),
    "int32": ("int", "i32"),
    "uint32": ("uint", "u32"),
    "int64": ("long", "i64"),
    "uint64": ("u64",),
    "float8_e4m3": ("f8e4m3", "float8e4m3", "fp8e4m3", "fp8_e4m3", "float8_e4m3fn", "fp8"),
    "float8_e5m2": ("f8e5m2", "float8e5m2", "fp8e5m2", "fp8_e5m2"),
}
_NAMES = {alias: name for name, aliases in _ALIASES.items() for alias in (name, *aliases)}


def dtype_named(name: str) -> str:
    """Our name of a dtype given nccl-tests', torch's, numpy's or a short name. Raises UsageError if unknown."""
    word = name.lower().removeprefix("torch.").removeprefix("nccl")
    if word not in _NAMES:
        raise UsageError(
            "an unknown dtype was asked for",
            expected=", ".join(ELEMENT_BYTES),
            found=repr(name),
            fix="use one of these, or nccl-tests' (float, half, double ...) or a short name (fp32, bf16 ...)",
        )
    return _NAMES[word]
