"""Chat models for the nodes of a graph: a server's, a local one, a script, a recording.

All are `ChatModel`s, so a node works with any of them. Optional packages load with the first request.
"""

from evonb._secrets import FromEnv
from evonb.llm.assemble import StreamAssembly, assemble, from_reply
from evonb.llm.client import ChatClient
from evonb.llm.failures import (
    EmptyReply,
    ModelError,
    ModelTimeout,
    ModelUnreachable,
    ReplyCutOff,
    RequestRejected,
    StreamBroken,
)
from evonb.llm.local import LocalModel
from evonb.llm.model import ChatModel, ChunkSink, ChunkWriter, Messages
from evonb.llm.recording import RecordingMode, RecordingModel
from evonb.llm.scripted import Reply, ScriptedModel, recorded
from evonb.llm.stream import ChatStream, SyncChatStream
from evonb.llm.vectors import EmbedClient, RerankClient
from evonb.llm.wire import from_wire, response_format, to_message, to_wire, tools_to_wire

__all__ = [
    "ChatClient",
    "ChatModel",
    "ChatStream",
    "ChunkSink",
    "ChunkWriter",
    "EmbedClient",
    "EmptyReply",
    "FromEnv",
    "LocalModel",
    "Messages",
    "ModelError",
    "ModelTimeout",
    "ModelUnreachable",
    "RecordingMode",
    "RecordingModel",
    "Reply",
    "ReplyCutOff",
    "RequestRejected",
    "RerankClient",
    "ScriptedModel",
    "StreamAssembly",
    "StreamBroken",
    "SyncChatStream",
    "assemble",
    "from_reply",
    "from_wire",
    "recorded",
    "response_format",
    "to_message",
    "to_wire",
    "tools_to_wire",
]
