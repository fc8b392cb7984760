"""Runs in a SQLite file: every step as it happens, many graphs and notebooks in one file, typed values, no pickle."""

from __future__ import annotations

from evonb.persistence.codec import Encoded, decode, decode_mapping, encode, encode_mapping
from evonb.persistence.errors import DuplicateRun, StoreError, StoreWarning, UnknownRun
from evonb.persistence.sqlite import SqliteStore
from evonb.persistence.standin import StandIn, stand_ins

__all__ = [
    "DuplicateRun",
    "Encoded",
    "SqliteStore",
    "StandIn",
    "StoreError",
    "StoreWarning",
    "UnknownRun",
    "decode",
    "decode_mapping",
    "encode",
    "encode_mapping",
    "stand_ins",
]
