"""Forms of numpy's arrays and scalars, and of pandas' frames, series and indexes: their numbers as bytes, no pickle.

Neither is imported to write: what isn't loaded can't have made a value. To read, both are (they are no user code).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evonb._optional import loaded, require
from evonb.persistence.containers import items
from evonb.persistence.forms import DECODE, LEARN, Reader, Unstorable, Writer, tagged

_Encode = Callable[[Writer, Any], Any]


def _numpy() -> Any:
    return require("numpy", "to read a stored array")


def _pandas() -> Any:
    return require("pandas", "to read a stored table")


def _learn(kind: type) -> _Encode | None:
    package = kind.__module__.partition(".")[0]
    if package == "numpy" and (np := loaded("numpy")) is not None:
        return _learn_numpy(np, kind)
    if package == "pandas" and (pd := loaded("pandas")) is not None:
        return _learn_pandas(pd, kind)
    return None


# --- numpy -----------------------------------------------------------------------------


def _learn_numpy(np: Any, kind: type) -> _Encode | None:
    if issubclass(kind, type):
        return None
    if kind is np.ndarray:
        return _array
    if issubclass(kind, np.generic):
        return lambda writer, value: tagged("npscalar", _array(writer, np.asarray(value)))
    if issubclass(kind, np.dtype):
        return lambda _, value: tagged("npdtype", np.lib.format.dtype_to_descr(value))
    return _refuse


def _array(writer: Writer, value: Any) -> Any:
    dtype, shape = value.dtype, list(value.shape)
    if dtype.kind in "OT":
        return tagged("npobjects", items(writer, value.reshape(-1).tolist()), d=dtype.kind, s=shape)
    if dtype.hasobject:
        raise Unstorable(value, "its records hold Python objects")
    descr = _numpy().lib.format.dtype_to_descr(dtype)
    return tagged("nparray", writer.value(value.tobytes()), d=descr, s=shape)


def _dtype(descr: Any) -> Any:
    return _numpy().lib.format.descr_to_dtype(_tuples(descr))


def _tuples(descr: Any) -> Any:
    # JSON has made lists of the tuples that describe the fields of records.
    if not isinstance(descr, list):
        return descr
    return [(*map(_field_part, field),) for field in descr]


def _field_part(part: Any) -> Any:
    if isinstance(part, list):
        return _tuples(part) if part and isinstance(part[0], list) else tuple(part)
    return part


def _read_array(_: Reader, form: dict[str, Any]) -> Any:
    np, dtype = _numpy(), _dtype(form["d"])
    if not form["v"]:
        return np.empty(form["s"], dtype)
    return np.frombuffer(bytearray(form["v"]), dtype).reshape(form["s"])


def _read_objects(_: Reader, form: dict[str, Any]) -> Any:
    np = _numpy()
    flat = np.empty(len(form["v"]), object)
    flat[:] = form["v"]
    return flat.reshape(form["s"]) if form["d"] == "O" else flat.reshape(form["s"]).astype(np.dtypes.StringDType())


DECODE.update({"nparray": _read_array, "npobjects": _read_objects, "npscalar": lambda _, form: form["v"][()]})
DECODE["npdtype"] = lambda _, form: _dtype(form["v"])


# --- pandas ----------------------------------------------------------------------------


def _learn_pandas(pd: Any, kind: type) -> _Encode | None:
    table: list[tuple[Any, _Encode]] = [
        (type(pd.NaT), lambda _, value: tagged("nat", None)),
        (type(pd.NA), lambda _, value: tagged("na", None)),
        (pd.Timestamp, _timestamp),
        (pd.Timedelta, lambda writer, value: tagged("pdtimedelta", writer.value(value.asm8))),
        (pd.Period, lambda _, value: tagged("period", value.ordinal, freq=value.freqstr)),
        (pd.Interval, lambda w, value: tagged("interval", items(w, [value.left, value.right]), closed=value.closed)),
        (pd.RangeIndex, _range_index),
        (pd.MultiIndex, _multi_index),
        (pd.Index, _index),
        (pd.Series, _series),
        (pd.DataFrame, _frame),
        (pd.Categorical, _categorical),
        (pd.api.extensions.ExtensionArray, _extension),
    ]
    if issubclass(kind, type):
        return None
    found = next(((base, encode) for base, encode in table if issubclass(kind, base)), None)
    # A subclass of a frame (geopandas has one) is its own package's affair.
    return _refuse if found is None else found[1]


def _refuse(_: Writer, value: Any) -> Any:
    raise Unstorable(value)


def _timestamp(writer: Writer, value: Any) -> Any:
    naive = value if value.tzinfo is None else value.tz_convert(None)
    return tagged("timestamp", writer.value(naive.asm8), tz=writer.value(value.tzinfo))


def _read_timestamp(_: Reader, form: dict[str, Any]) -> Any:
    value = _pandas().Timestamp(form["v"])
    return value if form["tz"] is None else value.tz_localize("UTC").tz_convert(form["tz"])


def _values(writer: Writer, holder: Any) -> Any:
    """The values of a series or index, whatever array holds them."""
    array = holder.array
    return writer.value(array.to_numpy() if type(array).__name__ == "NumpyExtensionArray" else array)


def _extension(writer: Writer, value: Any) -> Any:
    return tagged("pdarray", items(writer, value.astype(object).tolist()), d=str(value.dtype))


def _categorical(writer: Writer, value: Any) -> Any:
    codes, categories = writer.value(value.codes), writer.value(value.categories)
    return tagged("categorical", codes, c=categories, ordered=bool(value.ordered))


def _range_index(writer: Writer, value: Any) -> Any:
    return tagged("rangeindex", [value.start, value.stop, value.step], name=writer.value(value.name))


def _multi_index(writer: Writer, value: Any) -> Any:
    codes = [writer.value(codes.astype("int64")) for codes in map(_numpy().asarray, value.codes)]
    return tagged("multiindex", codes, levels=items(writer, value.levels), names=items(writer, value.names))


def _index(writer: Writer, value: Any) -> Any:
    freq = getattr(value, "freqstr", None) if type(value).__name__ in ("DatetimeIndex", "TimedeltaIndex") else None
    return tagged("index", _values(writer, value), name=writer.value(value.name), freq=freq)


def _read_index(_: Reader, form: dict[str, Any]) -> Any:
    made = _pandas().Index(form["v"], dtype=form["v"].dtype, name=form["name"])
    if form["freq"] is not None:
        made.freq = form["freq"]
    return made


def _read_multi_index(_: Reader, form: dict[str, Any]) -> Any:
    return _pandas().MultiIndex(levels=form["levels"], codes=form["v"], names=form["names"])


def _series(writer: Writer, value: Any) -> Any:
    form = tagged("series", _values(writer, value), index=writer.value(value.index), name=writer.value(value.name))
    return {**form, "attrs": writer.part(".attrs", value.attrs)}


def _read_series(_: Reader, form: dict[str, Any]) -> Any:
    values = form["v"]
    made = _pandas().Series(values, index=form["index"], name=form["name"], dtype=values.dtype)
    made.attrs = form["attrs"]
    return made


def _frame(writer: Writer, value: Any) -> Any:
    columns = []
    for place, name in enumerate(value.columns):
        try:
            columns.append(_values(writer, value.iloc[:, place]))
        except Unstorable as error:
            error.pieces.append(f"[{name!r}]")
            raise
    form = tagged("frame", columns, columns=writer.value(value.columns), index=writer.value(value.index))
    return {**form, "attrs": writer.part(".attrs", value.attrs)}


def _read_frame(_: Reader, form: dict[str, Any]) -> Any:
    pd, index = _pandas(), form["index"]
    series = {place: pd.Series(each, index=index, dtype=each.dtype) for place, each in enumerate(form["v"])}
    made = pd.DataFrame(series, index=index)
    made.columns = form["columns"]
    made.attrs = form["attrs"]
    return made


DECODE.update(
    {
        "nat": lambda _, form: _pandas().NaT,
        "na": lambda _, form: _pandas().NA,
        "timestamp": _read_timestamp,
        "pdtimedelta": lambda _, form: _pandas().Timedelta(form["v"]),
        "period": lambda _, form: _pandas().Period(ordinal=form["v"], freq=form["freq"]),
        "interval": lambda _, form: _pandas().Interval(*form["v"], closed=form["closed"]),
        "pdarray": lambda _, form: _pandas().array(form["v"], dtype=form["d"]),
        "categorical": lambda _, f: _pandas().Categorical.from_codes(f["v"], categories=f["c"], ordered=f["ordered"]),
        "rangeindex": lambda _, form: _pandas().RangeIndex(*form["v"], name=form["name"]),
        "multiindex": _read_multi_index,
        "index": _read_index,
        "series": _read_series,
        "frame": _read_frame,
    }
)
LEARN.insert(0, _learn)
