"""Documents from e-mail: one page per message, its text before what it quotes and its signature."""

import mailbox
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from email.utils import parsedate_to_datetime
from pathlib import Path, PurePosixPath

from hopweave.document import Document
from hopweave.errors import UnreadableInput
from hopweave.markup.html import read_html
from hopweave.markup.page import Block, Page, paragraphs
from hopweave.readers.pages import MAX_BYTES, Reading, page_documents

MAX_PARTS = 200
"""A message with more parts, those of messages inside it included, is refused."""

_QUOTED = re.compile(r"^>.*$", re.MULTILINE)

Parsers = dict[str, Callable[[str], Page]]


def mail_reader(parsers: Parsers) -> Callable[[Path, str, Reading], Iterator[Document]]:
    """A reader of .eml and .mbox files; attachments are read by the parser for their suffix."""

    def read(file: Path, name: str, reading: Reading) -> Iterator[Document]:
        if file.suffix.lower() == ".mbox":
            for number, message in enumerate(mailbox.mbox(file, create=False), 1):
                yield from _documents(message.as_bytes(), f"{name}#message-{number}", file, reading, parsers)
        else:
            if file.stat().st_size > MAX_BYTES:
                raise UnreadableInput(f"{file}: has more than {MAX_BYTES >> 20} MB")
            yield from _documents(file.read_bytes(), name, file, reading, parsers)

    return read


def _documents(data: bytes, name: str, file: Path, reading: Reading, parsers: Parsers) -> Iterator[Document]:
    try:
        message = BytesParser(policy=policy.default).parsebytes(data)
        parts = _parts(message, file)
        body = next(
            (part for part in parts if part.get_content_type() == "text/plain" and not part.get_filename()), None
        )
        body = body or next((part for part in parts if part.get_content_type() == "text/html"), None)
        page = replace(_page(body), front=_front(message), title=str(message["subject"] or ""))
        yield from page_documents(page, name, reading, file)
        for part in parts:
            if (attached := part.get_filename()) and (parse := parsers.get(PurePosixPath(attached).suffix.lower())):
                yield from page_documents(parse(_text(part)), f"{name}/{PurePosixPath(attached).name}", reading, file)
    except (LookupError, ValueError, RecursionError, AttributeError) as error:
        raise UnreadableInput(f"{file}: is no readable message: {error}") from error


def _parts(message: EmailMessage, file: Path) -> list[EmailMessage]:
    """The parts that hold text, without recursion however deep they lie."""
    found, waiting = list[EmailMessage](), [message]
    while waiting:
        part = waiting.pop(0)
        if len(found) + len(waiting) > MAX_PARTS:
            raise UnreadableInput(f"{file}: has more than {MAX_PARTS} parts")
        if part.is_multipart():
            waiting += [one for one in part.get_payload() if isinstance(one, EmailMessage)]
        else:
            found.append(part)
    return found


def _front(message: EmailMessage) -> dict[str, object]:
    front: dict[str, object] = {"author": str(message["from"] or ""), "to": str(message["to"] or "")}
    if message["date"]:
        front["date"] = parsedate_to_datetime(str(message["date"])).isoformat()
    if message["message-id"]:
        front["message_id"] = str(message["message-id"]).strip("<> ")
    if message["in-reply-to"]:
        front["in_reply_to"] = str(message["in-reply-to"]).strip("<> ")
    return {key: value for key, value in front.items() if value}


def _page(body: EmailMessage | None) -> Page:
    if body is None:
        return Page(())
    if body.get_content_type() == "text/html":
        return read_html(_text(body))
    text, _, signature = _text(body).partition("\n-- \n")
    own = paragraphs(_QUOTED.sub("", text)).blocks
    quoted = "\n".join(line for line in text.splitlines() if line.startswith(">"))
    extra = [Block("quote", quoted)] if quoted else []
    extra += [Block("paragraph", signature.strip())] if signature.strip() else []
    return Page((*own, *extra))


def _text(part: EmailMessage) -> str:
    content = part.get_content()
    text = content.decode("utf-8", "replace") if isinstance(content, bytes) else str(content)
    return text.replace("\r\n", "\n")
