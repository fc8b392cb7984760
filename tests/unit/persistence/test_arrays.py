"""Arrays and tables come back with their types, without pickle."""

from __future__ import annotations

import subprocess
import sys
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evonb.errors import StateError
from evonb.persistence import StandIn, decode, encode


def back(value: Any) -> Any:
    encoded = encode(value)
    return decode(encoded.text, encoded.blobs.__getitem__)


ARRAYS = [
    np.arange(6).reshape(2, 3),
    np.asfortranarray(np.eye(3, dtype="f4")),
    np.zeros((0, 3)),
    np.array(5),
    np.array(["a", "längerer Text"]),
    np.array([b"a"]),
    np.array(["2024-01-01", "NaT"], dtype="M8[ns]"),
    np.array([1 + 2j, np.nan]),
    np.array([True, False]),
    np.array([(1, (2.0, 3.0))], dtype=[("a", ">i4"), ("b", "f8", (2,))]),
    np.array([["a", None], [1, {"k": (1,)}]], dtype=object),
    np.array(["a", "bb"], dtype=np.dtypes.StringDType()),
    np.random.default_rng(1).random((100, 100)),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}-{array.shape}")
def test_an_array_comes_back_and_can_be_written_to(array: Any) -> None:
    restored = back({"a": [array]})["a"][0]
    assert (restored.dtype, restored.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(restored, array)
    assert restored.flags.writeable


@pytest.mark.parametrize(
    "scalar", [np.float32(1.5), np.int64(-1), np.str_("x"), np.datetime64("2024-01-01"), np.bool_(True)]
)
def test_a_scalar_keeps_its_type(scalar: Any) -> None:
    restored = back(scalar)
    assert type(restored) is type(scalar)
    assert restored == scalar


def test_a_dtype_and_a_scalar_class_come_back() -> None:
    assert back([np.dtype("f4"), np.float64]) == [np.dtype("f4"), np.float64]


def test_a_large_array_that_repeats_is_one_blob() -> None:
    array = np.ones((1000, 10))
    assert len(encode([array, array.copy()]).blobs) == 1


def test_an_unstorable_object_in_an_array_is_named_by_its_path() -> None:
    with pytest.raises(StateError, match=r"v\[0\]\[1\] is a _thread.lock"):
        encode([np.array([1, Lock()], dtype=object)], "v")


def test_a_subclass_of_an_array_is_not_stored_as_less_than_it_is() -> None:
    with pytest.raises(StateError, match="MaskedArray"):
        encode(np.ma.array([1, 2], mask=[0, 1]))


FRAME = pd.DataFrame(
    {
        "whole": [1, 2],
        "text": ["x", None],
        "kind": pd.Categorical(["q", "r"], categories=["r", "q"], ordered=True),
        "when": pd.to_datetime(["2020-01-01", "2021-01-01"], utc=True).tz_convert("Europe/Paris"),
        "maybe": pd.array([1, None], dtype="Int64"),
        "objects": [[1], {"a": (1,)}],
        "part": pd.array([1.5, 2.5], dtype="float32"),
    },
    index=pd.date_range("2020", periods=2, freq="D", name="day"),
)
FRAMES = {
    "mixed": FRAME,
    "many levels": FRAME.set_index(["whole", "text"]),
    "empty": pd.DataFrame(),
    "rows only": pd.DataFrame(index=[1, 2]),
    "columns only": pd.DataFrame(columns=["a", "b"]),
    "same names": pd.DataFrame([[1, 2]], columns=["a", "a"]),
    "intervals": pd.DataFrame({"i": pd.interval_range(0, 2), "p": pd.period_range("2020", periods=2, freq="M")}),
    "odd labels": pd.DataFrame([[1, 2]], columns=[("a", 1), None], index=[1.5]),
}


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_comes_back(name: str) -> None:
    frame = FRAMES[name]
    frame.attrs = {"source": ("a", 1)}
    restored = back(frame)
    pd.testing.assert_frame_equal(restored, frame, check_freq=True)
    assert restored.attrs == {"source": ("a", 1)}


@pytest.mark.parametrize("column", FRAME.columns)
def test_a_series_comes_back(column: str) -> None:
    pd.testing.assert_series_equal(back(FRAME[column]), FRAME[column])


@pytest.mark.parametrize(
    "value",
    [
        pd.Timestamp("2020-01-01 01:02:03.000000004", tz="Europe/Paris"),
        pd.Timedelta("3ns"),
        pd.NaT,
        pd.NA,
        pd.Period("2020-01"),
    ],
    ids=str,
)
def test_a_pandas_scalar_keeps_its_type(value: Any) -> None:
    restored = back(value)
    assert type(restored) is type(value)
    assert restored is value or restored == value


def test_an_unstorable_value_in_a_frame_is_named_by_its_path() -> None:
    with pytest.raises(StateError, match=r"v\['b'\]\[1\] is a _thread.lock"):
        encode(pd.DataFrame({"a": [1, 2], "b": [1, Lock()]}), "v")


def test_encoding_loads_neither_and_decoding_loads_what_it_needs() -> None:
    code = (
        "import sys; from evonb.persistence import decode, encode; encode({'a': [1.5, (1,)]})\n"
        "assert 'numpy' not in sys.modules and 'pandas' not in sys.modules\n"
        f"text = {encode(np.arange(3)).text!r}\n"
        "assert decode(text, {}.__getitem__).tolist() == [0, 1, 2] and 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_where_numpy_is_missing_the_numbers_stay_as_a_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = encode([np.arange(3), 1])
    monkeypatch.setitem(sys.modules, "numpy", None)
    array, one = decode(encoded.text, encoded.blobs.__getitem__)
    assert isinstance(array, StandIn)
    assert "'numpy' is needed to read a stored array" in array.reason
    assert one == 1
    monkeypatch.undo()
    assert back([array])[0].tolist() == [0, 1, 2]
