from hopweave.document import Document
from hopweave.graph.build.builders.services import ServicesBuilder
from hopweave.graph.build.resolve import resolve

ORDERS = Document(
    "code", "func Charge()", {"service_name": "order-service", "calls_out": ["payment-service", "order-service"]}
)
CHAT = Document("chat", "payment-service is throwing 503s, checking Order Service", {})


def edges(*documents, **parameters):
    build = ServicesBuilder(**parameters).contribute
    return [(edge.source, edge.type, edge.target) for edge in resolve(map(build, documents)).edges()]


def test_calls_and_belonging():
    assert edges(ORDERS) == [
        ("passage:code", "about", "service:order-service"),
        ("passage:code", "mentions", "service:payment-service"),
        ("service:order-service", "calls", "service:payment-service"),
    ]


def test_services_named_in_a_text():
    found = edges(ORDERS, CHAT)
    assert ("passage:chat", "mentions", "service:payment-service") in found
    assert ("passage:chat", "mentions", "service:order-service") in found


def test_text_can_be_left_out():
    assert not any(source == "passage:chat" for source, _, _ in edges(ORDERS, CHAT, search_text=False))


def test_nothing_to_say():
    assert edges(CHAT) == []
    assert ServicesBuilder().contribute(Document("d", "", {"service_name": "", "calls_out": None})).mentions == ()
