"""`OutputParser`: modes, fields, schemas, models, cache."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypedDict

import pytest
from pydantic import BaseModel, Field, RootModel

from evonb.errors import EvonbError
from evonb.parsing import (
    AnswerSchema,
    FieldSchema,
    FixStrategy,
    OutputFormat,
    OutputParser,
    ParseError,
    ParseMode,
    ParseResult,
    ParseTrace,
    RankedAnswersSchema,
    ToolCallSchema,
    ValidationRule,
    ValidationStatus,
    create_answer_parser,
    create_json_parser,
    create_tool_call_parser,
)

ANSWER = [
    FieldSchema("answer", "the answer", aliases=["response"]),
    FieldSchema("confidence", "how sure", dtype="float", required=False, default=1.0),
]


def trace_of(result: ParseResult) -> ParseTrace:
    assert result.trace is not None
    return result.trace


def statuses(result: ParseResult) -> list[str]:
    return [check.status.name for check in trace_of(result).validations]


class TestModes:
    @pytest.mark.parametrize("text", [None, "", "  \n", "\u200b"])
    def test_a_blank_reply_is_an_error_in_the_trace(self, text: str | None) -> None:
        result = OutputParser().parse(text)
        assert result.data is None
        assert not trace_of(result).success
        assert len(trace_of(result).errors) == 1

    @pytest.mark.parametrize("text", [None, "", '{"a": "cut o', "{'a': 1", "```json\n```", "<a>1</b>", "null"])
    def test_strict_raises_with_the_trace_where_it_would_have_to_guess(self, text: str | None) -> None:
        with pytest.raises(ParseError) as caught:
            OutputParser(mode=ParseMode.STRICT).parse(text)
        assert caught.value.trace is not None
        assert not caught.value.trace.success
        assert isinstance(caught.value, EvonbError)
        assert caught.value.fix

    @pytest.mark.parametrize(
        "text", ["Done: {'a': None, // c\n}", "```json\n{a: null,}\n```", '<think>x</think>{"a": null}']
    )
    def test_strict_takes_what_loses_nothing(self, text: str) -> None:
        assert OutputParser(mode=ParseMode.STRICT).parse(text).data == {"a": None}

    def test_strict_raises_on_a_failed_check(self) -> None:
        with pytest.raises(ParseError, match="'answer' is missing"):
            OutputParser(mode=ParseMode.STRICT, fields=ANSWER).parse('{"confidence": 0.5}')

    def test_strict_will_not_pick_one_of_several_values(self) -> None:
        text = 'First {"a": 1}, later {"a": 2}.'
        assert OutputParser().parse(text).data == {"a": 2}
        with pytest.raises(ParseError, match="separate values"):
            OutputParser(mode=ParseMode.STRICT).parse(text)

    def test_lenient_gives_no_data_rather_than_a_made_up_answer(self) -> None:
        assert OutputParser().parse("no json here", OutputFormat.JSON).data is None

    def test_the_fallback_is_there_for_who_asks(self) -> None:
        result = OutputParser(fallback=True, original_prompt="q").parse("no json here", OutputFormat.JSON)
        assert result.data["_parse_error"] is True
        assert result.data["confidence"] == 0
        assert not trace_of(result).success

    @pytest.mark.parametrize(
        "text",
        [
            '{"name": "f", "arguments": "{\\"a\\": \\"cut"}',
            '{"name": "f", "arguments": {"a": "cut',
            '{"name": "f", "arguments": [1]}',
            '{"arguments": {"a": 1}, "type": "function"}',
            '<tool_call>{"name": "f", "arguments": {"a": 1',
            "<function=f><parameter=a>cut",
            '[TOOL_CALLS]f{"a": "cut',
            'Action: f\nAction Input: {"a": "cut',
            "Action: f",
            "f(1, 2)",
            '<|tool_call_begin|>call_0a1b2c3d<|tool_call_argument_begin|>{"a": "b"}<|tool_call_end|>',
            '<|tool_call_begin|>functions.f:1<|tool_call_argument_begin|>"{\\"a\\": [1',
            '<｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a": "b',
            '<｜DSML｜invoke name="f">\n<｜DSML｜parameter name="a" string="true">b',
            '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": {"b": 1}',
            "Action: Finish[42]",
            "Action: None (no tool fits)",
            '[{"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}]',
            "plain words",
        ],
    )
    def test_a_call_that_must_not_be_made_is_a_failure(self, text: str) -> None:
        result = create_tool_call_parser().parse(text)
        assert result.data is None
        assert trace_of(result).errors

    @pytest.mark.parametrize(
        "text",
        [
            '<tool_call>{"name": "f", "arguments": {"a": "b"}}</tool_call>',
            "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>b</arg_value>\n</tool_call>",
            '<｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a": "b"}<｜tool▁call▁end｜>',
            '<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"a": "b"}<|tool_call_end|>',
            '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": "b"}<|call|>',
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n"
            '```json\n{"a": "b"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
            '<｜DSML｜function_calls>\n<｜DSML｜invoke name="f">\n<｜DSML｜parameter name="a" string="true">b'
            "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
            '<| DSML |invoke name="f"><| DSML |parameter name="a" string="true">b</| DSML |parameter></| DSML |invoke>',
            '<|tool_call_begin|>\nf:2\n<|tool_call_argument_begin|>\n{"a": "b"}\n<|tool_call_end|>',
            '<|tool_call_begin|>functions.f:1<|tool_call_argument_begin|>"{\\"a\\": \\"b\\"}"<|tool_call_end|>',
            '<|tool_call_begin|>call_0a1b2c3d<|tool_call_argument_begin|>{"name": "f", "a": "b"}<|tool_call_end|>',
            '<|start|>assistant to=functions.f<|channel|>commentary <|constrain|>json<|message|>{"a": "b"}<|call|>',
            '<|channel|>analysis<|message|>Is {"x": 1} to=functions? Yes.<|end|><|start|>assistant<|channel|>analysis '
            'to=functions.f code<|message|>\n{"a": "b"}<|call|>',
            '[TOOL_CALLS]f[ARGS]{"a": "b"}',
            '<function=f>{"a": "b"}</function>',
            '<invoke name="f"><parameter name="a">b</parameter></invoke>',
            '<|python_tag|>f.call(a="b")',
            "```tool_code\nprint(f(a='b'))\n```",
            '{"choices": [{"message": {"tool_calls": [{"function": '
            '{"name": "f", "arguments": "{\\"a\\": \\"b\\"}"}}]}}]}',
            '{"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": {"a": "b"}}}]}}]}',
            '{"content": [{"type": "text", "text": "hm"}, {"type": "tool_use", "name": "f", "input": {"a": "b"}}]}',
            'Thought: x\nAction: f\nAction Input: {"a": "b"}\nObservation: made up\nAction: g\nAction Input: {}',
            'I call {"name": "f", "parameters": {"a": "b"}} now.',
        ],
    )
    def test_the_same_call_in_the_ways_of_many_models(self, text: str) -> None:
        data = create_tool_call_parser().parse(text).data
        assert (data["tool_name"], data["arguments"]) == ("f", {"a": "b"})

    @pytest.mark.parametrize(
        ("text", "calls"),
        [
            (
                '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="now"/>\n<｜DSML｜invoke name="f">'
                '<｜DSML｜parameter name="n" string="false">{"y": [1, null]}</｜DSML｜parameter>'
                '<｜DSML｜parameter name="on" string="false">true</｜DSML｜parameter>'
                '<｜DSML｜parameter name="text" string="true"> [1]\n</｜DSML｜parameter></｜DSML｜invoke>',
                [("now", {}), ("f", {"n": {"y": [1, None]}, "on": True, "text": " [1]\n"})],
            ),
            (
                "<|tool_calls_section_begin|><|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>"
                "<|tool_call_end|><|tool_call_begin|>functions.call_me:1<|tool_call_argument_begin|>"
                '{"at": 9}<|tool_call_end|><|tool_calls_section_end|>',
                [("now", {}), ("call_me", {"at": 9})],
            ),
            (
                '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}<|call|><|start|>assistant'
                "<|channel|>commentary to=functions.now<|channel|>commentary <|constrain|>json<|message|>{}<|call|>",
                [("f", {"a": 1}), ("now", {})],
            ),
        ],
    )
    def test_several_calls_are_found_without_being_told_to_look_for_any(self, text: str, calls: list[Any]) -> None:
        result = OutputParser().parse(text)
        assert trace_of(result).detected_format is OutputFormat.TOOL_CALL
        assert [(call["tool_name"], call["arguments"]) for call in result.data] == calls

    @pytest.mark.parametrize("text", ["Action: f\nAction Input: cats", 'Action: f("cats")', "Action: f[cats]"])
    def test_text_as_the_input_goes_under_input(self, text: str) -> None:
        assert create_tool_call_parser().parse(text).data["arguments"] == {"input": "cats"}

    def test_one_bad_call_of_two_spoils_both(self) -> None:
        good = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
        assert create_tool_call_parser().parse(good + '<tool_call>{"name": "g", "arguments": {"a": "cu').data is None

    def test_one_call_is_a_dict_and_several_are_a_list(self) -> None:
        one = '{"name": "f", "arguments": {"a": 1}}'
        call = {"tool_name": "f", "arguments": {"a": 1}, "thought": None}
        assert create_tool_call_parser().parse(one).data == call
        assert create_tool_call_parser().parse(f"[{one}, {one}]").data == [call, call]


class TestFields:
    def test_name_then_alias_blind_to_case_and_blanks(self) -> None:
        fields = [FieldSchema("full_name", "", aliases=["who"])]
        for text in ('{"Full Name": "A"}', '{"WHO": "A"}', '{"who": "B", "full_name": "A"}', "Full Name: A"):
            assert OutputParser(fields=fields).parse(text).data == {"full_name": "A"}

    def test_defaults_fill_missing_and_null_optional_fields_with_copies(self) -> None:
        fields = [FieldSchema("a", ""), FieldSchema("b", "", dtype="list", required=False, default=[])]
        parser = OutputParser(fields=fields)
        first = parser.parse('{"a": "x"}').data
        first["b"].append(1)
        assert parser.parse('{"a": "y", "b": null}').data == {"a": "y", "b": []}

    @pytest.mark.parametrize(
        ("dtype", "given", "kept"),
        [
            ("float", '"0.75"', 0.75),
            ("int", '"1,234"', 1234),
            ("int", '"١٢"', 12),
            ("float", '"٠٫٩"', 0.9),
            ("int", "3.0", 3),
            ("bool", '"Yes"', True),
            ("bool", "0", False),
            ("list", '"a, \\"b, c\\""', ["a", "b, c"]),
            ("list", '"[1, 2]"', [1, 2]),
            ("dict", '"{\\"k\\": 1}"', {"k": 1}),
            ("str", "17", "17"),
            ("str", "true", "true"),
        ],
    )
    def test_what_loses_nothing_is_coerced(self, dtype: str, given: str, kept: Any) -> None:
        result = OutputParser(fields=[FieldSchema("v", "", dtype=dtype)]).parse(f'{{"v": {given}}}')
        assert result.data == {"v": kept}
        assert type(result.data["v"]) is type(kept)
        assert trace_of(result).success

    @pytest.mark.parametrize(
        ("dtype", "given"),
        [("int", "3.7"), ("int", "true"), ("bool", '"maybe"'), ("float", '"1.234,5"'), ("dict", "[1]"), ("str", "[1]")],
    )
    def test_what_would_lose_something_fails_and_stays(self, dtype: str, given: str) -> None:
        result = OutputParser(fields=[FieldSchema("v", "", dtype=dtype)]).parse(f'{{"v": {given}}}')
        assert "FAILED" in statuses(result)
        assert not trace_of(result).success
        assert result.ok

    def test_choices_come_after_coercion_and_ignore_case(self) -> None:
        parser = OutputParser(fields=[FieldSchema("level", "", choices=["low", "High"])])
        assert parser.parse('{"level": "HIGH"}').data == {"level": "High"}
        assert not trace_of(parser.parse('{"level": "extreme"}')).success

    def test_unknown_keys_stay_with_a_warning(self) -> None:
        result = OutputParser(fields=ANSWER).parse('{"answer": "x", "more": 1}')
        assert result.data == {"answer": "x", "confidence": 1.0, "more": 1}
        assert "WARNING" in statuses(result)
        assert trace_of(result).success

    def test_one_wrapping_key_is_opened(self) -> None:
        assert OutputParser(fields=ANSWER).parse('{"result": {"response": "x"}}').data["answer"] == "x"

    def test_rows_are_each_brought_to_the_fields(self) -> None:
        result = OutputParser(fields=ANSWER).parse("| Response | Confidence |\n|--|--|\n| x | 0.5 |\n| y | |")
        assert [row["answer"] for row in result.data] == ["x", "y"]
        assert [check.field for check in trace_of(result).validations if not check.passed][:1] == ["[1].confidence"]

    def test_plain_text_fills_the_one_open_field_and_no_more(self) -> None:
        assert OutputParser(fields=ANSWER).parse("It is Oslo.").data == {"answer": "It is Oslo.", "confidence": 1.0}
        two = [FieldSchema("a", ""), FieldSchema("b", "")]
        result = OutputParser(fields=two).parse("It is Oslo.")
        assert result.data is None
        assert trace_of(result).detected_format is OutputFormat.PLAIN_TEXT

    def test_the_object_with_most_fields_wins_and_the_last_of_equals(self) -> None:
        text = '{"note": 1} {"answer": "draft"} then {"answer": "final"} and {"tokens": 12}'
        assert OutputParser(fields=ANSWER).parse(text).data["answer"] == "final"


class City(BaseModel):
    name: str
    population: int = Field(alias="pop", default=0)


@dataclass
class Place:
    name: str
    tags: list[str] = field(default_factory=list)


class Spot(TypedDict):
    name: str


class TestSchemas:
    def test_a_model_with_aliases_and_other_spelling(self) -> None:
        assert OutputParser(City).parse('{"Name": "Oslo", "pop": "700000"}').data == City(name="Oslo", pop=700000)

    def test_rows_become_instances(self) -> None:
        assert OutputParser(City).parse('[{"name": "a"}, {"name": "b"}]').data == [City(name="a"), City(name="b")]

    def test_a_dataclass_and_a_typed_dict(self) -> None:
        assert OutputParser(Place).parse("name: Oslo\ntags: a").data == {"name": "Oslo", "tags": "a"}
        assert OutputParser(Place).parse('{"name": "Oslo", "tags": ["a"]}').data == Place("Oslo", ["a"])
        assert OutputParser(Spot).parse('{"name": "Oslo"}').data == {"name": "Oslo"}

    def test_data_that_does_not_fit_stays_and_fails_its_check(self) -> None:
        result = OutputParser(City).parse('{"pop": 1}')
        assert result.data == {"pop": 1}
        assert not trace_of(result).success
        with pytest.raises(ParseError, match="doesn't fit City"):
            OutputParser(City, mode=ParseMode.STRICT).parse('{"pop": 1}')

    @pytest.mark.parametrize("text", ['""', "0", "false"])
    def test_empty_values_are_checked_like_others(self, text: str) -> None:
        assert not trace_of(OutputParser(City).parse(text)).success

    def test_of_two_values_that_fit_the_last_counts_and_a_warning_says_so(self) -> None:
        result = OutputParser(City).parse('{"name": "a"} or rather {"name": "b"}')
        assert result.data == City(name="b")
        assert trace_of(result).warnings == ["2 different values have the wanted keys; the last one counts"]
        assert not trace_of(OutputParser(City).parse('{"name": "a"}, that is {"name": "a"}')).warnings

    def test_a_root_model_takes_the_whole_value(self) -> None:
        assert OutputParser(RootModel[list[City]]).parse('[{"name": "a"}]').data.root == [City(name="a")]
        assert OutputParser(RootModel[dict[str, int]]).parse('{"a": 1}').data.root == {"a": 1}

    def test_a_list_goes_into_the_one_list_field(self) -> None:
        result = OutputParser(RankedAnswersSchema).parse('[{"answer": "a"}, {"answer": "b"}]')
        assert [answer.answer for answer in result.data.answers] == ["a", "b"]

    def test_a_changed_confidence_is_a_warning(self) -> None:
        result = create_answer_parser().parse('{"answer": "x", "confidence": "5%"}')
        assert result.data == AnswerSchema(answer="x", confidence=1.0)
        assert any("5%" in warning for warning in trace_of(result).warnings)
        fine = create_answer_parser().parse('{"answer": "x", "confidence": "0.5"}')
        assert not any("confidence" in warning for warning in trace_of(fine).warnings)

    def test_plain_text_is_an_answer(self) -> None:
        assert create_answer_parser().parse("Oslo.").data == AnswerSchema(answer="Oslo.")

    def test_parse_typed_gives_the_instance_or_raises(self) -> None:
        parser = OutputParser()
        assert parser.parse_typed('{"name": "Oslo"}', City) == City(name="Oslo")
        assert (
            parser.parse_typed('{"name": "f", "arguments": {}}', ToolCallSchema, OutputFormat.TOOL_CALL).tool_name
            == "f"
        )
        with pytest.raises(ParseError) as caught:
            parser.parse_typed('{"pop": 1}', City)
        assert caught.value.trace is not None

    def test_json_parser_factory(self) -> None:
        assert create_json_parser().parse("x = {'a': 1}").data == {"a": 1}
        with pytest.raises(ParseError):
            create_json_parser(strict=True).parse("no json")


class Model:
    """Gives its replies in order and remembers what it was asked."""

    def __init__(self, *replies: str | Exception) -> None:
        self.replies = list(replies)
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        reply = self.replies[min(len(self.prompts), len(self.replies)) - 1]
        if isinstance(reply, Exception):
            raise reply
        return reply


class TestModels:
    def test_a_model_is_not_asked_when_repair_is_enough(self) -> None:
        model = Model("never")
        assert OutputParser(fields=ANSWER, llm_fn=model).parse("{'answer': 'x',}").data["answer"] == "x"
        assert model.prompts == []

    def test_a_model_rewrites_what_cannot_be_read(self) -> None:
        model = Model('{"name": "Oslo", "pop": 1}')
        fields = [FieldSchema("name", ""), FieldSchema("pop", "", dtype="int")]
        result = OutputParser(fields=fields, llm_fn=model).parse("No idea.")
        assert result.data == {"name": "Oslo", "pop": 1}
        assert trace_of(result).fix_applied is FixStrategy.LLM_REFORMAT
        assert "No idea." in model.prompts[0]

    def test_what_a_model_raises_is_in_the_trace(self) -> None:
        result = OutputParser(llm_fn=Model(RuntimeError("quota")), max_retries=1).parse("x", OutputFormat.JSON)
        assert result.data is None
        assert any("quota" in error for error in trace_of(result).errors)
        assert trace_of(result).retries == 1

    def test_no_retries_means_no_call(self) -> None:
        model = Model("{}")
        OutputParser(llm_fn=model, max_retries=0).parse("x", OutputFormat.JSON)
        assert model.prompts == []

    def test_semantic_asks_first_and_falls_back_to_the_text(self) -> None:
        fields = [FieldSchema("n", "", dtype="int")]
        good = OutputParser(fields=fields, mode=ParseMode.SEMANTIC, llm_fn=Model('{"n": 31}')).parse("She is 31.")
        assert good.data == {"n": 31}
        bad = OutputParser(fields=fields, mode=ParseMode.SEMANTIC, llm_fn=Model(ValueError("off"))).parse('{"n": 4}')
        assert bad.data == {"n": 4}
        assert any("off" in warning for warning in trace_of(bad).warnings)

    def test_semantic_without_a_model_is_lenient(self) -> None:
        assert OutputParser(mode=ParseMode.SEMANTIC).parse("{'a': 1}").data == {"a": 1}

    def test_a_rewriting_that_lacks_a_required_field_is_not_taken(self) -> None:
        fields = [FieldSchema("n", "", dtype="int"), FieldSchema("m", "")]
        model = Model('{"n": 1}')
        assert OutputParser(fields=fields, llm_fn=model, max_retries=1).parse("No idea.").data is None


class TestCache:
    def test_results_are_kept_by_text_format_and_mode(self) -> None:
        parser = OutputParser()
        assert parser.parse("a: 1\nb: 2").data == {"a": "1", "b": "2"}
        assert parser.parse("a: 1\nb: 2", OutputFormat.YAML).data == {"a": 1, "b": 2}

    def test_nobody_changes_what_others_get(self) -> None:
        parser = OutputParser()
        parser.parse('{"a": [1]}').data["a"].append(2)
        assert parser.parse('{"a": [1]}').data == {"a": [1]}

    def test_a_kept_result_does_not_run_the_rules_again(self) -> None:
        calls: list[Any] = []

        def rule(data: Any) -> bool:
            calls.append(data)
            return True

        parser = OutputParser(rules=[ValidationRule("seen", rule, "")])
        parser.parse("{}")
        parser.parse("{}")
        assert len(calls) == 1
        parser.clear_cache()
        parser.parse("{}")
        assert len(calls) == 2

    def test_a_failure_that_a_model_might_mend_is_not_kept(self) -> None:
        model = Model("no", '{"a": 1}')
        parser = OutputParser(llm_fn=model, max_retries=1, expected_format=OutputFormat.JSON)
        parser.parse("words")
        assert parser.parse("words").data == {"a": 1}


def test_safety_findings_warn_and_do_not_fail() -> None:
    text = '{"answer": "write to ana@example.org, card 4111 1111 1111 1111"}'
    result = OutputParser().parse(text)
    assert trace_of(result).success
    warnings = " ".join(trace_of(result).warnings)
    assert "e-mail" in warnings
    assert "card number" in warnings
    assert "ana@example.org" not in warnings
    assert trace_of(OutputParser(enable_safety=False).parse(text)).warnings == []


def test_rules_of_the_caller_decide_on_success() -> None:
    rule = ValidationRule("long", lambda data: len(data["answer"]) > 5, "too short")
    result = OutputParser(rules=[rule]).parse('{"answer": "x"}')
    assert not trace_of(result).success
    assert result.data == {"answer": "x"}
    assert [check.status for check in trace_of(result).validations] == [ValidationStatus.FAILED]


def test_instructions_name_every_field_with_its_type_and_choices() -> None:
    fields = [
        FieldSchema("level", "how bad", choices=["low", "high"]),
        FieldSchema("n", "", dtype="int", required=False),
    ]
    text = OutputParser(fields=fields).get_format_instructions()
    assert all(word in text for word in ("JSON", "level", "how bad", "'low'", "n (int; optional)"))
    assert '"pop"' in OutputParser(City).get_format_instructions()
    assert "tags (optional)" in OutputParser(Place).get_format_instructions()
