"""Record what a real llama.cpp server sends: each request once as a stream, once whole.

Run it by hand when the local server changes: `python -m tests.wire.record`. The bytes of each stream are kept as
they came. The built-in template of the weights knows neither reasoning nor tools; two small templates make the real
server parse both, from replies that a grammar or a prefix holds in shape.
"""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import xllamacpp

from evonb.llm.weights import SMOLLM2, chat_template, find_weights

FOLDER = Path(__file__).parent / "recorded"

THINKING = """{%- for m in messages %}<|im_start|>{{ m.role }}
{% if m.role == 'assistant' and m.reasoning_content %}<think>
{{ m.reasoning_content }}
</think>

{% endif %}{{ m.content }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
<think>
{% endif %}"""

CALLING = """<|im_start|>system
{% if tools %}Tools:{% for tool in tools %}
{{ tool | tojson }}{% endfor %}{% endif %}<|im_end|>
{% for m in messages %}{% if m.role == 'tool' %}<|im_start|>user
<tool_response>
{{ m.content }}
</tool_response><|im_end|>
{% else %}<|im_start|>{{ m.role }}
{{ m.content or '' }}{% for call in m.tool_calls or [] %}{% if m.content or not loop.first %}
{% endif %}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}<|im_end|>
{% endif %}{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""


@dataclass
class Case:
    name: str
    text: str
    template: str = field(default_factory=chat_template)
    options: dict[str, Any] = field(default_factory=dict)
    before: list[dict[str, Any]] = field(default_factory=list)
    prefix: str = ""

    @property
    def request(self) -> dict[str, Any]:
        after = [{"role": "assistant", "content": self.prefix}] if self.prefix else []
        messages = [*self.before, {"role": "user", "content": self.text}, *after]
        # Without the prompt cache both answers are computed in the same way, to the last bit.
        fixed = {"model": SMOLLM2, "temperature": 0, "seed": 1, "cache_prompt": False, "max_tokens": 12}
        return {**fixed, "messages": messages, **self.options}


def tool(name: str, **parameters: str) -> dict[str, Any]:
    properties = {key: {"type": kind} for key, kind in parameters.items()}
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}}


def exactly(*parts: str) -> dict[str, Any]:
    """The option that makes the model write these texts and nothing else."""
    return {"grammar": "root ::= " + " ".join(json.dumps(part, ensure_ascii=False) for part in parts), "max_tokens": 60}


WEATHER = tool("get_weather", city="string")
CALL = "<tool_call>\n"
"""What the reply begins with: the server streams what comes after it, and reads both as the call."""


def shown(question: str, *calls: tuple[str, str]) -> list[dict[str, Any]]:
    """An exchange that shows the small model how calls are written."""
    rows = [
        {"id": f"c{place}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for place, (name, arguments) in enumerate(calls)
    ]
    return [
        {"role": "user", "content": question},
        {"role": "assistant", "content": None, "tool_calls": rows},
        *({"role": "tool", "tool_call_id": row["id"], "content": "25"} for row in rows),
        {"role": "assistant", "content": "25."},
    ]


SHOWN = shown("Rome?", ("get_weather", '{"city": "Rome"}'))
PERSON = {
    "type": "object",
    "properties": {"name": {"enum": ["Ada", "Bo"]}, "age": {"type": "integer", "maximum": 99}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
PERSON_ONLY = {"type": "json_schema", "json_schema": {"schema": PERSON}}

CASES = [
    Case("plain", "Say hello."),
    Case("usage", "Say hello.", options={"stream_options": {"include_usage": True}}),
    Case("one_token", "Say hello.", options={"max_tokens": 1}),
    Case("stop_word", "Count: one two three", options={"stop": ["o"], "max_tokens": 20}),
    Case("schema", "A person", options={"response_format": PERSON_ONLY, "max_tokens": 40}),
    Case("unicode", "Anything", options=exactly("Grüße, 世界! 🐢🦀 ‘ok’ — ½")),
    Case("separators", "Anything", options=exactly("a\u2028b\u2029c\u0085d\x0be\ttab\r\nend")),
    Case("escapes", "Anything", options=exactly('quote " slash \\ data: [DONE] {"a": 1}')),
    Case("empty", "Anything", options=exactly("")),
    Case("two_choices", "Say hello.", options={"n": 2, "stream_options": {"include_usage": True}}),
    Case("logprobs", "Say hello.", options={"logprobs": True, "top_logprobs": 1, "max_tokens": 3}),
    Case("timings", "Say hello.", options={"timings_per_token": True, "return_progress": True, "max_tokens": 4}),
    Case("reasoning", "2+2?", THINKING, exactly("Two and two.", "\n</think>\n\n", "Four.")),
    Case("reasoning_only", "2+2?", THINKING, {"max_tokens": 8}),
    Case("tool_call", "Paris?", CALLING, {"tools": [WEATHER], "max_tokens": 30}, SHOWN, CALL),
]  # fmt: skip


def serve(template: str) -> Any:
    params = xllamacpp.CommonParams()
    params.model.path, params.model_alias = str(find_weights()), {SMOLLM2}
    params.chat_template, params.port = template, 0
    params.n_parallel, params.n_ctx, params.verbosity, params.warmup = 2, 2048, 0, False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.sse_ping_interval = 1
    return xllamacpp.Server(params)


def ask(address: str, body: dict[str, Any]) -> bytes:
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=120)
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    if answer.status != 200:
        raise RuntimeError(data.decode())
    return data


def record(case: Case, address: str) -> None:
    stream = ask(address, {**case.request, "stream": True})
    reply = json.loads(ask(address, case.request))
    (FOLDER / f"{case.name}.sse").write_bytes(stream)
    kept = {"request": case.request, "reply": reply}
    (FOLDER / f"{case.name}.json").write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for template in dict.fromkeys(case.template for case in CASES):
        server = serve(template)
        for case in CASES:
            if case.template == template:
                record(case, server.listening_address)
                print(case.name)
        del server


if __name__ == "__main__":
    main()
