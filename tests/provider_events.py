"""Events as hosts send them, one of every kind and with every member that is read: material for hostile tests."""

from __future__ import annotations

from typing import Any

USAGES: list[Any] = [
    {
        "input_tokens": 9,
        "cache_read_input_tokens": 1,
        "cache_creation_input_tokens": 2,
        "cache_creation": {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 1},
        "output_tokens": 3,
        "output_tokens_details": {"thinking_tokens": 1, "reasoning_tokens": 1},
        "input_tokens_details": {
            "cached_tokens": 1,
            "cache_write_tokens": 1,
            "cache_write_tokens_details": {"ttl_12h": 1},
        },
        "server_tool_use": {"web_search_requests": 1},
        "iterations": [{"type": "compaction", "input_tokens": 1}, {"type": "fallback_message"}],
        "service_tier": "standard",
    },
    {
        "prompt_tokens": 9,
        "completion_tokens": 3,
        "total_tokens": 12,
        "prompt_tokens_details": {"cached_tokens": 1, "cache_write_tokens": 1, "audio_tokens": 1},
        "completion_tokens_details": {"reasoning_tokens": 1, "audio_tokens": 1},
        "num_cached_tokens": 1,
    },
    {
        "promptTokenCount": 9,
        "candidatesTokenCount": 3,
        "thoughtsTokenCount": 1,
        "totalTokenCount": 13,
        "promptTokensDetails": [{"modality": "AUDIO", "tokenCount": 1}],
    },
]
BLOCKS: list[Any] = [
    {"type": "text", "text": "a", "citations": [{"url": "https://a", "title": "A", "cited_text": "x"}]},
    {"type": "thinking", "thinking": "b", "signature": "s"},
    {"type": "redacted_thinking", "data": "d"},
    {"type": "tool_use", "id": "t1", "name": "w", "input": {"a": 1}, "caller": {"type": "direct"}},
    {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"url": "https://a", "title": "A"}]},
    {"type": "web_fetch_tool_result", "tool_use_id": "s1", "content": {"error_code": "unavailable"}},
    {"type": "compaction", "content": "c"},
]
DELTAS: list[Any] = [
    {"type": "text_delta", "text": "a"},
    {"type": "thinking_delta", "thinking": "b"},
    {"type": "signature_delta", "signature": "s"},
    {"type": "input_json_delta", "partial_json": '{"a":'},
    {"type": "citations_delta", "citation": {"source": "https://a", "document_title": "A"}},
]
ITEMS: list[Any] = [
    {
        "type": "message",
        "id": "m1",
        "phase": "final",
        "content": [
            {
                "type": "output_text",
                "text": "ab",
                "annotations": [{"type": "url_citation", "url": "https://a"}],
            },
            {"type": "refusal", "refusal": "no"},
        ],
    },
    {
        "type": "reasoning",
        "id": "r1",
        "encrypted_content": "e",
        "summary": [{"text": "s"}],
        "content": [{"text": "t"}],
    },
    {"type": "function_call", "id": "f1", "call_id": "c1", "name": "w", "arguments": "{}", "namespace": "n"},
    {"type": "custom_tool_call", "id": "f2", "call_id": "c2", "name": "w", "input": "free"},
    {"type": "web_search_call", "id": "w1"},
    {"type": "mcp_call", "id": "x1", "name": "m", "error": {"message": "bad"}},
    {"type": "compaction", "id": "k1"},
]
ERROR: Any = {
    "error": {
        "type": "rate_limit_error",
        "code": 429,
        "status": "RESOURCE_EXHAUSTED",
        "message": "slow down",
        "details": [{"reason": "R", "retryDelay": "1s", "violations": [{"quotaId": "PerDay"}]}],
        "metadata": {"error_type": "x"},
    },
    "request_id": "req_1",
}
EVENTS: dict[str, list[Any]] = {
    "anthropic": [
        {
            "type": "message_start",
            "message": {
                "id": "m",
                "model": "x",
                "content": BLOCKS[:2],
                "usage": USAGES[0],
                "stop_reason": None,
            },
        },
        *(
            {"type": "content_block_start", "index": i, "content_block": block}
            for i, block in enumerate(BLOCKS)
        ),
        *({"type": "content_block_delta", "index": i, "delta": delta} for i, delta in enumerate(DELTAS)),
        {"type": "content_block_delta", "index": 3, "delta": DELTAS[3]},
        {"type": "content_block_stop", "index": 3},
        {
            "type": "message_delta",
            "usage": USAGES[0],
            "context_management": {"a": 1},
            "delta": {
                "stop_reason": "refusal",
                "stop_details": {"category": "x"},
                "container": {"id": "c"},
            },
        },
        {"type": "message_stop"},
        {"type": "ping"},
        {"type": "error", **ERROR},
    ],
    "openai-chat": [
        *(
            {
                "id": "c",
                "model": "x",
                "usage": USAGES[1],
                "service_tier": "flex",
                "choices": [
                    {"index": 0, "delta": delta, "finish_reason": "stop", "native_finish_reason": "STOP"}
                ],
            }
            for delta in (
                {"content": "a"},
                {
                    "content": [
                        {"type": "thinking", "thinking": [{"text": "b"}], "signature": "s"},
                        {"text": "c"},
                        "d",
                    ]
                },
                {
                    "reasoning": "b",
                    "reasoning_content": "b",
                    "reasoning_details": [
                        {
                            "type": "reasoning.text",
                            "text": "b",
                            "signature": "s",
                            "index": 0,
                            "id": "i",
                            "format": "f",
                        },
                        {"type": "reasoning.encrypted", "data": "e"},
                        {"type": "reasoning.summary", "summary": "b"},
                    ],
                },
                {"refusal": "no", "annotations": [{"url_citation": {"url": "https://a", "title": "A"}}]},
                {
                    "tool_calls": [
                        {
                            "index": 0,
                            "id": "t",
                            "function": {"name": "w", "arguments": '{"a":'},
                            "extra_content": {"google": {"thought_signature": "s"}},
                        }
                    ]
                },
                {"tool_calls": [{"index": 0, "custom": {"name": "w", "input": "free"}}]},
                {"function_call": {"name": "w", "arguments": "{}"}},
            )
        ),
        {"choices": [], "x_groq": {"usage": USAGES[1]}},
        {"choices": [{"text": "a", "message": {"content": "a"}}]},
        ERROR,
        {"object": "error", "message": "m", "code": 400},
        {"detail": "m"},
    ],
    "openai-responses": [
        {
            "type": "response.created",
            "response": {
                "id": "r",
                "model": "x",
                "usage": USAGES[0],
                "tool_usage": {"web_search": {"num_requests": 2}},
            },
        },
        *(
            {"type": f"response.output_item.{state}", "output_index": i, "item": item}
            for i, item in enumerate(ITEMS)
            for state in ("added", "done")
        ),
        *(
            {
                "type": f"response.{kind}.{state}",
                "output_index": i,
                "item_id": "f1",
                "call_id": "c1",
                "delta": "ab",
                "text": "abc",
                "arguments": "abc",
                "input": "abc",
                "refusal": "abc",
                "content_index": 0,
                "summary_index": 0,
            }
            for i, kind in enumerate(
                (
                    "output_text",
                    "refusal",
                    "function_call_arguments",
                    "custom_tool_call_input",
                    "reasoning_summary_text",
                    "reasoning_text",
                )
            )
            for state in ("delta", "done")
        ),
        {
            "type": "response.output_text.annotation.added",
            "annotation": {"type": "url_citation", "url": "https://a", "title": "A"},
        },
        {
            "type": "response.completed",
            "response": {"status": "completed", "output": ITEMS, "usage": USAGES[0]},
        },
        {
            "type": "response.incomplete",
            "response": {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
        },
        {"type": "response.failed", "response": ERROR},
        {"type": "error", "code": "c", "message": "m", "param": None},
    ],
    "google": [
        {
            "responseId": "r",
            "modelVersion": "x",
            "usageMetadata": USAGES[2],
            "candidates": [
                {
                    "index": 0,
                    "finishReason": "STOP",
                    "finishMessage": "m",
                    "continuationToken": "k",
                    "content": {
                        "parts": [
                            {"text": "a", "thoughtSignature": "s"},
                            {"text": "b", "thought": True},
                            {
                                "functionCall": {"id": "f", "name": "w", "args": {"a": 1}},
                                "thoughtSignature": "s",
                            },
                            {
                                "functionCall": {
                                    "name": "w",
                                    "willContinue": True,
                                    "partialArgs": [
                                        {"jsonPath": "$.a[0]['b']", "stringValue": "x"},
                                        {"jsonPath": "$.n", "numberValue": 1.0},
                                        {"jsonPath": "$.a.b", "boolValue": True},
                                        {"jsonPath": "$", "nullValue": None},
                                    ],
                                }
                            },
                            {"functionCall": {"partialArgs": [{"jsonPath": "$.a", "stringValue": "y"}]}},
                            {"inlineData": {"mimeType": "image/png"}},
                            {"executableCode": {"code": "x"}},
                            {"codeExecutionResult": {}},
                            {"toolCall": {}},
                            {"toolResponse": {}},
                            {"thoughtSignature": "s"},
                        ]
                    },
                    "groundingMetadata": {
                        "webSearchQueries": ["q"],
                        "groundingChunks": [{"web": {"uri": "https://a", "title": "A"}}],
                    },
                }
            ],
        },
        {"promptFeedback": {"blockReason": "SAFETY"}},
        ERROR,
    ],
}
WHOLE: dict[str, list[Any]] = {
    "anthropic": [
        {"type": "message", "id": "m", "content": BLOCKS, "stop_reason": "end_turn", "usage": USAGES[0]}
    ],
    "openai-chat": [{"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]}],
    "openai-responses": [{"object": "response", "status": "completed", "output": ITEMS, "usage": USAGES[0]}],
    "google": EVENTS["google"],
}

TELLERS = {
    "anthropic": [
        '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":TEXT}}',
        '{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":TEXT}}',
        '{"delta":{"text":TEXT,"type":"text_delta"},"type":"content_block_delta"}',
        '{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":TEXT}}',
    ],
    "openai-chat": [
        '{"id":"c","model":"m","choices":[{"index":0,"delta":{"content":TEXT}}]}',
        '{"id":"c","model":TEXT,"choices":[{"index":0,"delta":{"content":"a"}}]}',
        '{"choices":[{"index":0,"delta":{"reasoning":TEXT,"content":null}}],"service_tier":"flex"}',
        '{"choices":[{"index":0,"delta":{"content":TEXT}}],"service_tier":"default"}',
        '{"choices":[{"index":0,"delta":{"content":TEXT,"reasoning":"b"}}]}',
        '{"choices":[{"index":0,"delta":{"content":TEXT}}],"usage":{"prompt_tokens":1}}',
        '{"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":2}}',
        '{"choices":[{"index":0,"delta":{"refusal":TEXT}}]}',
        '{"choices":[{"index":1,"delta":{"content":TEXT}}]}',
        '{"choices":[{"index":0,"delta":{"content":"a","content":TEXT}}]}',
    ],
}
