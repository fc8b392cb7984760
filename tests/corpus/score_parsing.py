#!/usr/bin/env python3
# ruff: noqa: B904, B905, E501, RUF005 - kept as it was handed out, so that scores stay comparable
"""Score an output parser on a corpus of LLM replies.

    python score_parsing.py parsing.jsonl --failures
    python score_parsing.py --throughput 1

Each case runs in a worker process with a time and memory limit, so a hang, a
stack overflow or a memory bomb costs one case and not the run.

A corpus line is one JSON object:
  name, kind   what the case is; kinds are reported separately
  mode         strict | lenient | semantic | tool_call
  text         the reply (null is a real None); or
  gen          a list of parts joined into the text: a string, {"repeat", "times"},
               {"count": printf pattern, "n", "sep"} or {"surrogate": hex}
  fields       optional list of FieldSchema arguments
  expected_format   optional format hint, passed to the parser
  expect       data     the result must equal `data` or one of `alt`, or pass `checks`
               fail     the parser must report failure
               invalid  failure, or data together with a FAILED validation
               safe     any outcome that is neither a crash nor a time-out
  valid        optional: whether the trace may hold a FAILED validation
  format       optional list of acceptable detected formats (scored apart)
  loose        compare scalars as text, ignore key case and runs of white space
  nan_ok       null in `data` also matches a float NaN
  max_seconds  time limit for this case
  forbid       text that must not occur in the result (expanded entities, file contents)
  llm          scripted replies for llm_fn, in order; {"raise": message} raises; null is no model
  llm_max_calls   more calls of llm_fn than this are wrong

Outcomes: pass, wrong, missed (reported failure where data was expected),
silent (claimed success where failure was expected), crash, timeout.

A tool call is {"tool_name", "arguments"} with an optional "thought"; one call
may be returned bare or in a list.
"""

import argparse
import collections
import datetime
import json
import math
import multiprocessing as mp
import os
import sys
import time

# --------------------------------------------------------------------------- cases


def build_text(case):
    if "gen" not in case:
        return case["text"]
    out = []
    for part in case["gen"]:
        if isinstance(part, str):
            out.append(part)
        elif "repeat" in part:
            out.append(part["repeat"] * part["times"])
        elif "surrogate" in part:
            out.append(chr(int(part["surrogate"], 16)))
        else:
            pat, holes = part["count"], part["count"].count("%d")
            out.append(part.get("sep", "").join(pat % ((i,) * holes) for i in range(part["n"])))
    return "".join(out)


def load(path):
    with open(path, encoding="utf-8") as fh:
        return [json.loads(line) for line in fh if line.strip()]


# --------------------------------------------------------------------------- comparing


def plain(value, depth=0):
    """Turn a parser's result into JSON-like values."""
    if depth > 400:
        raise RecursionError("result is nested too deeply to compare")
    if isinstance(value, (str, bool, int, float)) or value is None:
        return value
    if isinstance(value, dict):
        return {
            k if isinstance(k, str) else ("true" if k is True else "false" if k is False else str(k)): plain(
                v, depth + 1
            )
            for k, v in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [plain(v, depth + 1) for v in value]
    if isinstance(value, (datetime.date, datetime.datetime, datetime.time)):
        return value.isoformat()
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(), depth + 1)
    if hasattr(value, "__dataclass_fields__"):
        return plain({k: getattr(value, k) for k in value.__dataclass_fields__}, depth + 1)
    return value


def squash(text):
    return " ".join(str(text).split())


def loose_key(key):
    return squash(key).casefold().replace(" ", "_")


def same(got, want, loose=False, nan_ok=False):
    if isinstance(want, dict):
        if not isinstance(got, dict) or len(got) != len(want):
            return False
        if loose:
            got = {loose_key(k): v for k, v in got.items()}
            want = {loose_key(k): v for k, v in want.items()}
        return got.keys() == want.keys() and all(same(got[k], want[k], loose, nan_ok) for k in want)
    if isinstance(want, list):
        return (
            isinstance(got, list)
            and len(got) == len(want)
            and all(same(g, w, loose, nan_ok) for g, w in zip(got, want))
        )
    if want is None and nan_ok and isinstance(got, float) and math.isnan(got):
        return True
    if isinstance(got, (dict, list)):
        return False
    if loose and not isinstance(want, bool):
        if squash(got) == squash(want):
            return True
        try:
            return not isinstance(got, bool) and float(got) == float(want)
        except (TypeError, ValueError):
            return False
    if isinstance(want, bool) or isinstance(got, bool):
        return isinstance(want, bool) and isinstance(got, bool) and got == want
    if isinstance(want, (int, float)) and isinstance(got, (int, float)):
        return got == want
    return type(got) is type(want) and got == want


def as_calls(value):
    value = plain(value)
    if isinstance(value, dict):
        for key in ("tool_calls", "calls"):
            if isinstance(value.get(key), list):
                value = value[key]
                break
        else:
            value = [value]
    if not isinstance(value, list):
        return None
    calls = []
    for item in value:
        if not isinstance(item, dict) or "tool_name" not in item:
            return None
        calls.append(item)
    return calls


def same_calls(got, want):
    calls = as_calls(got)
    if calls is None or len(calls) != len(want):
        return False
    for g, w in zip(calls, want):
        if g["tool_name"] != w["tool_name"] or not same(g.get("arguments"), w["arguments"]):
            return False
        if "thought" in w and "thought" in g and squash(g["thought"]) != squash(w["thought"]):
            return False
    return True


def run_checks(data, checks):
    for path, op, want in checks:
        node = data
        for step in path:
            try:
                node = node[step]
            except (KeyError, IndexError, TypeError):
                return False
        if op == "len" and not (hasattr(node, "__len__") and len(node) == want):
            return False
        if op == "eq" and not same(node, want):
            return False
    return True


def judge(case, out):
    """out: {"status": "ok"|"fail", "data", "format", "failed_checks"} -> (outcome, format_ok)"""
    expect, ok = case["expect"], out["status"] == "ok"
    if ok and case.get("forbid"):
        shown = str(out["data"])[:1000000]
        if any(word in shown for word in case["forbid"]):
            return "wrong", None
    if out.get("llm_calls", 0) > case.get("llm_max_calls", 99):
        return "wrong", None
    fmt_ok = None
    if case.get("format") and out.get("format") is not None:
        fmt_ok = out["format"] in case["format"]
    if expect == "safe":
        return "pass", fmt_ok
    if expect == "fail":
        return ("silent" if ok else "pass"), fmt_ok
    if expect == "invalid":
        return ("pass" if not ok or out.get("failed_checks") else "silent"), fmt_ok
    if not ok:
        return "missed", fmt_ok
    if "checks" in case:
        return ("pass" if run_checks(out["data"], case["checks"]) else "wrong"), fmt_ok
    wanted = [case["data"]] + list(case.get("alt", []))
    if case["mode"] == "tool_call":
        good = any(same_calls(out["data"], w) for w in wanted)
    else:
        data = plain(out["data"])
        good = any(same(data, w, case.get("loose", False), case.get("nan_ok", False)) for w in wanted)
    if not good:
        return "wrong", fmt_ok
    if "valid" in case and out.get("failed_checks") is not None and bool(out["failed_checks"]) == case["valid"]:
        return "wrong", fmt_ok
    return "pass", fmt_ok


# --------------------------------------------------------------------------- adapters
# An adapter is a factory; factory() returns run(case, text) -> out dict.
# Raising Refused means "the parser reported failure in its documented way".


class Refused(Exception):
    pass


def _schema_parser(module_name):
    """A parser with this constructor: OutputParser(schema, fields, mode, expected_format, llm_fn, max_retries,
    enable_safety, enable_cache, original_prompt); parse(text, expected_format=None)."""
    import importlib

    mod = importlib.import_module(module_name)
    ParseMode, OutputFormat = mod.ParseMode, mod.OutputFormat
    ParseError = getattr(mod, "ParseError", ValueError)
    import logging

    logging.disable(logging.CRITICAL)

    def run(case, text):
        fields = [mod.FieldSchema(**f) for f in case.get("fields", [])]
        kw = {"fields": fields, "mode": ParseMode(case["mode"]), "enable_cache": False}
        hint = case.get("expected_format")
        if hint:
            kw["expected_format"] = OutputFormat(hint)
        calls = []
        if case.get("llm"):

            def llm_fn(prompt, *args, **kwargs):
                reply = case["llm"][min(len(calls), len(case["llm"]) - 1)]
                calls.append(prompt)
                if isinstance(reply, dict):
                    raise RuntimeError(reply["raise"])
                return reply

            kw["llm_fn"] = llm_fn
        try:
            res = mod.OutputParser(**kw).parse(text)
        except ParseError as exc:
            raise Refused(str(exc)[:200])
        trace = res.trace
        fmt = trace.detected_format.value if trace is not None else None
        failed = None
        if trace is not None:
            failed = sum(1 for v in trace.validations if v.status.name == "FAILED")
        data = res.data
        soft = isinstance(data, dict) and data.get("_parse_error")
        return {
            "status": "ok" if res.ok and not soft else "fail",
            "data": data,
            "format": fmt,
            "failed_checks": failed,
            "llm_calls": len(calls),
        }

    return run


def evonb():
    return _schema_parser("evonb.parsing")


ADAPTERS = {"evonb": evonb}


# --------------------------------------------------------------------------- running


def worker(adapter, conn, mem_mb):
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (mem_mb << 20, mem_mb << 20))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):
        pass
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 2)
    try:
        run = ADAPTERS[adapter]()
    except Exception as exc:
        conn.send(("setup", f"{type(exc).__name__}: {exc}"))
        return
    conn.send(("ready", None))
    while True:
        case = conn.recv()
        if case is None:
            return
        text = build_text(case)
        t0 = time.perf_counter()
        detail = ""
        try:
            out = run(case, text)
            took = time.perf_counter() - t0
        except Refused as exc:
            took = time.perf_counter() - t0
            out, detail = {"status": "fail", "data": None}, str(exc)
        except BaseException as exc:
            took = time.perf_counter() - t0
            conn.send(("case", "crash", None, took, f"{type(exc).__name__}: {str(exc)[:160]}"))
            continue
        try:
            outcome, fmt_ok = judge(case, out)
            if outcome not in ("pass",):
                shown = repr(out.get("data"))
                detail = (detail or shown)[:240].encode("utf-8", "backslashreplace").decode()
            if fmt_ok is False:
                detail += f" [format {out.get('format')}]"
        except RecursionError as exc:
            outcome, fmt_ok, detail = ("pass", None, "") if case["expect"] == "safe" else ("wrong", None, str(exc))
        conn.send(("case", outcome, fmt_ok, took, detail))


class Worker:
    def __init__(self, adapter, mem_mb):
        self.adapter, self.mem_mb = adapter, mem_mb
        self.start()

    def start(self):
        ctx = mp.get_context("spawn")
        self.conn, child = ctx.Pipe()
        self.proc = ctx.Process(target=worker, args=(self.adapter, child, self.mem_mb), daemon=True)
        self.proc.start()
        child.close()
        if not self.conn.poll(120):
            raise SystemExit(f"{self.adapter}: no answer while loading")
        kind, msg = self.conn.recv()
        if kind == "setup":
            raise SystemExit(f"{self.adapter}: cannot load: {msg}")

    def stop(self):
        self.proc.kill()
        self.proc.join()
        self.conn.close()

    def ask(self, case, limit):
        t0 = time.perf_counter()
        try:
            self.conn.send(case)
            if not self.conn.poll(limit + 2.0):
                self.stop()
                self.start()
                return "timeout", None, time.perf_counter() - t0, f"over {limit:g} s"
            _, outcome, fmt_ok, took, detail = self.conn.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError):
            self.proc.join()
            code = self.proc.exitcode
            self.stop()
            self.start()
            return "crash", None, time.perf_counter() - t0, f"process died with exit code {code}"
        if took > limit and outcome != "crash":
            return "timeout", fmt_ok, took, f"took {took:.1f} s, limit {limit:g} s"
        return outcome, fmt_ok, took, detail


ORDER = ["pass", "wrong", "missed", "silent", "crash", "timeout"]


def score(adapter, cases, limit, mem_mb):
    rows = []
    w = Worker(adapter, mem_mb)
    try:
        for case in cases:
            outcome, fmt_ok, took, detail = w.ask(case, case.get("max_seconds", limit))
            rows.append(
                {
                    "name": case["name"],
                    "kind": case["kind"],
                    "outcome": outcome,
                    "format_ok": fmt_ok,
                    "seconds": round(took, 4),
                    "detail": detail,
                }
            )
    finally:
        w.stop()
    return rows


def report(adapter, rows, failures):
    kinds = collections.OrderedDict()
    for r in rows:
        kinds.setdefault(r["kind"], []).append(r)
    print(f"\n== {adapter}: {len(rows)} cases")
    print(
        f"{'kind':<16}{'n':>4} {'pass':>6} {'rate':>6}  {'wrong':>5} {'missed':>6} {'silent':>6} {'crash':>5} {'hang':>4}  {'format':>7}  {'slowest':>8}"
    )
    for kind, rs in list(kinds.items()) + [("ALL", rows)]:
        n = collections.Counter(r["outcome"] for r in rs)
        fm = [r["format_ok"] for r in rs if r["format_ok"] is not None]
        fmt = f"{sum(fm)}/{len(fm)}" if fm else "-"
        slow = max((r["seconds"] for r in rs), default=0)
        print(
            f"{kind:<16}{len(rs):>4} {n['pass']:>6} {100 * n['pass'] / max(1, len(rs)):>5.0f}%  {n['wrong']:>5} {n['missed']:>6} "
            f"{n['silent']:>6} {n['crash']:>5} {n['timeout']:>4}  {fmt:>7}  {slow:>7.2f}s"
        )
    if failures:
        for r in rows:
            if r["outcome"] != "pass":
                print(f"  {r['outcome']:<8}{r['name']:<42} {squash(r['detail'])[:150]}")


def throughput(adapter, mb):
    """Seconds for one valid array of objects of about `mb` megabytes, best of three, in this process."""
    row = '{"id": %d, "name": "row %d", "tags": ["x", "y"], "ok": true}'
    text = "[" + ", ".join(row % (i, i) for i in range(int(mb * 16000))) + "]"
    run = ADAPTERS[adapter]()
    case = {"name": "throughput", "kind": "json_plain", "mode": "lenient", "expect": "safe"}
    best = None
    for _ in range(3):
        t0 = time.perf_counter()
        try:
            run(case, text)
        except Refused:
            return
        dt = time.perf_counter() - t0
        best = dt if best is None or dt < best else best
    size = len(text) / 1e6
    print(f"{adapter}: {size:.2f} MB valid JSON in {best:.3f} s = {size / best:.1f} MB/s")


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("corpus", nargs="*", help="corpus files, one case a line")
    ap.add_argument("--adapter", action="append", default=[], choices=sorted(ADAPTERS))
    ap.add_argument("--kind", action="append", help="only these kinds")
    ap.add_argument("--case", help="only cases whose name holds this text")
    ap.add_argument("--timeout", type=float, default=2.0, help="seconds for a case without its own limit")
    ap.add_argument("--memory", type=int, default=3000, help="megabytes for a worker")
    ap.add_argument("--failures", action="store_true", help="print each case that did not pass")
    ap.add_argument("--json", help="write all rows to this file")
    ap.add_argument("--throughput", type=float, metavar="MB", help="time a valid JSON text of this size instead")
    ap.add_argument("--min-rate", type=float, help="exit 1 when the overall pass rate is below this (0-100)")
    ap.add_argument("--list", action="store_true", help="list the adapters")
    args = ap.parse_args()
    if args.list:
        print("\n".join(ADAPTERS))
        return 0
    if args.throughput:
        for a in args.adapter or ["evonb"]:
            throughput(a, args.throughput)
        return 0
    cases = [c for path in args.corpus for c in load(path)]
    if args.kind:
        cases = [c for c in cases if c["kind"] in args.kind]
    if args.case:
        cases = [c for c in cases if args.case in c["name"]]
    if not cases:
        ap.error("no cases")
    everything, worst = {}, 100.0
    for a in args.adapter or ["evonb"]:
        rows = score(a, cases, args.timeout, args.memory)
        report(a, rows, args.failures)
        everything[a] = rows
        worst = min(worst, 100 * sum(r["outcome"] == "pass" for r in rows) / max(1, len(rows)))
    if args.json:
        with open(args.json, "w", encoding="utf-8") as fh:
            json.dump(everything, fh, indent=1)
    return 1 if args.min_rate is not None and worst < args.min_rate else 0


if __name__ == "__main__":
    sys.exit(main())
