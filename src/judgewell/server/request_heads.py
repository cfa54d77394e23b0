"""How long the head of a request may be: its line and headers are held in memory before anybody is asked."""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST_HEAD = 64 * 1024  # bytes; a browser's is a few thousand
REFUSAL = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class BoundedHeads(HttpToolsProtocol):
    """uvicorn's protocol, which by itself reads a head without end."""

    _head = 0  # bytes of a head that has not ended
    _reading_head = True

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._reading_head or self.transport.is_closing():
            return
        self._head += len(data)
        if self._head > LARGEST_HEAD:
            self.transport.write(REFUSAL)
            self.transport.close()

    def on_headers_complete(self) -> None:
        self._reading_head, self._head = False, 0
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._reading_head, self._head = True, 0
        super().on_message_complete()
