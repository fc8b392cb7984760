"""What we promise beyond behaviour: the documented names, a light import, generated files, a complete wheel."""

from __future__ import annotations

import importlib
import inspect
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

DOCUMENTED = {
    "evonb.graph": """
        AsyncNode AsyncStreamNode BaseComponent ConditionEdgeSpec EdgeSpec EdgeSpecBase GraphBuilder GraphEngine
        GraphEngineDebugger GraphNodeSpec NodeBase RunTimeTask StateCkpt StateFilterLike StateUpdater StreamCtx
        StreamWriter SyncNode SyncStreamNode _append_messages _overwrite_state_update_strategy callable_to_node
        cast_edge current_ctx generate_state_schema get_stream_writer set_streaming_handler stream_writer_env
        START END node router edge
    """,
    "evonb.typing": """
        AssistantMessage ChatStreamChunk ChatUsage CodeExecDockerConfig DBItem DEFAULT_EDGE_GROUP EmbedResponse
        EmbedUsage Function GraphMode LLMChatResponse MCPConfig MISSING McpServerLink NodeActionMode PromptRequest
        RerankResponse Reranking ResourceRequest STREAM_CHUNK SearchResult SpecialNode SseLink State StateBaseMessage
        StateDelta StateMessage StateSchema StdioLink StreamableHttpLink SystemMessage ToolCall ToolCallResult
        ToolInnerState ToolManagerState ToolMessage UserMessage cast_state_message
    """,
    "evonb.parsing": """
        PYDANTIC_AVAILABLE OutputFormat ParseMode ValidationStatus FixStrategy ValidationResult ParseTrace ParseResult
        FieldSchema AnswerSchema ToolCallSchema RetrievalResultSchema RankedAnswersSchema FormatDetector OutputParser
        OutputValidator ValidationRule OutputFixer RetryHandler
    """,
    "evonb.tools": """
        ErasedTool ToolExecutionContext CancelSignal CancelSource NodeReport NodeReportingContext DiagnosticContext
        SubFlowLogger ScopedSubFlowLogger McpToolManager CodeSandbox ToolRegistry tool define_tool
    """,
    "evonb.agents": "AgentCoreEngine define_workflow route AgentNode ToolNode ParserNode HumanInput RetrieverNode",
    "evonb.persistence": "SqliteStore",
    "evonb.export": "html_picture to_mermaid to_dot to_graphml to_networkx to_png",
    "evonb.llm": "ChatClient LocalModel RecordingModel ScriptedModel recorded",
    "evonb.testing": "Step record steps",
}
FACES = [
    f"evonb.{path.parent.name}"
    for path in sorted((ROOT / "evonb").glob("*/__init__.py"))
    if "__all__" in path.read_text(encoding="utf-8")
]
OPTIONAL = [
    "IPython",
    "anywidget",
    "graphlay",
    "ipykernel",
    "ipywidgets",
    "jupyter_client",
    "mcp",
    "networkx",
    "openai",
]


@pytest.mark.parametrize(
    ("module", "name"), [(module, name) for module, names in DOCUMENTED.items() for name in names.split()]
)
def test_a_documented_name_is_public(module: str, name: str) -> None:
    face = importlib.import_module(module)
    assert hasattr(face, name)
    assert name in face.__all__


@pytest.mark.parametrize("module", FACES)
def test_a_public_face_lists_only_what_is_there(module: str) -> None:
    face = importlib.import_module(module)
    assert [name for name in face.__all__ if not hasattr(face, name)] == []
    assert len(face.__all__) == len(set(face.__all__))


@pytest.mark.parametrize("module", FACES)
def test_a_public_face_lists_all_that_it_took_in(module: str) -> None:
    face = importlib.import_module(module)
    ours = {
        name
        for name, value in vars(face).items()
        if not name.startswith("_")
        and not inspect.ismodule(value)
        and getattr(value, "__module__", "").startswith("evonb.")
        and (value.__module__ != module or inspect.isclass(value))
    }
    assert ours - set(face.__all__) <= {"require"}  # the door to optional packages


def test_no_file_names_this_machine_or_a_package_server() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    # In two halves, so that this file doesn't find itself.
    words = ["/wo" + "rk/main", "/wo" + "rk/shared", "ipykernel" + r"_\d+/", "farm" + r"-\w", "/\\.lib" + "rary"]
    words += [
        "registry" + r"\.npm",
        "py" + r"pi\.org",
        "py" + "pi-",
        "--index" + "-url",
        "/tmp/" + "venv",
        "/ro" + "ot/",
    ]
    places = re.compile("|".join(words))
    found = []
    for name in filter(None, listed.split("\0")):
        path = ROOT / name
        if path.is_file() and path.suffix not in (".png", ".db"):
            hit = places.search(path.read_bytes().decode("utf-8", "replace"))
            found += [f"{name}: {hit.group()}"] if hit else []
    assert found == []


@pytest.mark.parametrize("module", ["evonb", "evonb.typing", "evonb.graph", "evonb.llm", "evonb.testing"])
def test_an_import_loads_no_optional_package(module: str) -> None:
    code = f"import {module}, sys, json; print(json.dumps([name for name in {OPTIONAL} if name in sys.modules]))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert json.loads(loaded.stdout) == []


def test_the_typescript_twin_of_the_protocol_is_fresh() -> None:
    check = [sys.executable, "-m", "evonb.protocol.typescript", "--check"]
    done = subprocess.run(check, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


# Every widget instance carries its own whole in the notebook. The debugger's styles count apart, so that its script,
# which a page has to compile, keeps the same limit as the whole of the plain view.
@pytest.mark.parametrize(
    ("files", "limit_bytes"),
    [("graph.js graph.css", 150_000), ("debugger.js", 150_000), ("debugger.css", 40_000)],
)
def test_the_bundle_of_a_view_stays_small(files: str, limit_bytes: int) -> None:
    static = ROOT / "evonb" / "widgets" / "static"
    assert sum((static / name).stat().st_size for name in files.split()) < limit_bytes


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Names in the wheel, built without Node."""
    target = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (path,) = target.glob("*.whl")
    return set(zipfile.ZipFile(path).namelist())


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(wheel: set[str]) -> None:
    package = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "evonb").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in wheel if ".dist-info/" not in name} == package


def test_the_wheel_holds_what_is_not_python(wheel: set[str]) -> None:
    needed = {"evonb/py.typed", "evonb/llm/smollm2.jinja", "evonb/export/assets/tokens.css"}
    needed |= {f"evonb/widgets/static/{view}.{kind}" for view in ("graph", "debugger") for kind in ("js", "css")}
    assert needed <= wheel
    assert any(name.endswith("licenses/LICENSE") for name in wheel)
