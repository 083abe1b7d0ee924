"""What can be set: by environment variables, by a YAML file, or not at all."""

import os
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, YamlConfigSettingsSource

import hopweave.catalogue  # noqa: F401 - makes every stage known by its kind
from hopweave.component import Stage
from search_service.messages import Method

HERE = Path(__file__).parent.parent
Role = Literal["none", "read", "write"]
DEFAULT = "default"
"""The name of the only knowledge base, if none is named."""
_COMMON_NAMES = {
    "RETRIEVER_PORT": "port",
    "RETRIEVER_DEFAULT_METHOD": "default_method",
    "RETRIEVER_DEFAULT_LIMIT": "default_limit",
    "RETRIEVER_MIN_RELEVANCE": "min_relevance",
    "EMBEDDING_MODEL": "embedding_model",
}
_PLACE_NAMES = (
    *("POSTGRES_URL", "POSTGRES_TABLE", "QDRANT_URL", "QDRANT_COLLECTION", "QDRANT_API_KEY"),
    *("ELASTICSEARCH_URL", "ELASTICSEARCH_INDEX", "ELASTICSEARCH_API_KEY"),
)
LOOPBACK = {"127.0.0.1", "::1", "localhost"}


class Synthesis(BaseModel, extra="forbid"):
    """Who writes the summary: an OpenAI-compatible endpoint if there is a `url`, else the sources themselves."""

    enabled: bool = Field(default=True, description="Whether answers carry a summary.")
    url: str | None = Field(
        default=None, pattern="^https?://", description="Base address, such as http://localhost:11434/v1."
    )
    model: str = Field(default="gpt-4o-mini", min_length=1, description="What the endpoint calls its model.")
    api_key: SecretStr | None = Field(default=None, description="Sent as a bearer token.")
    temperature: float = Field(default=0.3, ge=0, le=2, description="How freely the model may choose its words.")
    max_tokens: int = Field(default=500, ge=1, description="How long the summary may be.")
    max_sources: int = Field(default=5, ge=1, le=100, description="How many results the summary is drawn from.")
    timeout_seconds: float = Field(default=10.0, gt=0, description="After this time the sources speak for themselves.")


class Mcp(BaseModel, extra="forbid"):
    """The tools of the Model Context Protocol, at /mcp and by `python -m search_service mcp`."""

    enabled: bool = Field(default=True, description="Whether /mcp answers.")
    allowed_hosts: list[str] = Field(
        default=["127.0.0.1:*", "localhost:*", "[::1]:*"],
        description="Hosts that /mcp is called by; others are refused, against DNS rebinding.",
    )
    knowledge_base: str | None = Field(default=None, description="The one that the tools search; the first if null.")
    tenant: dict[str, Any] = Field(
        default={}, description="Metadata that documents must have for the tools to see them, beside that of the key."
    )


class Key(BaseModel, extra="forbid"):
    """Who may do what."""

    name: str = Field(min_length=1, max_length=64, description="Stands in logs and metrics in place of the key.")
    key: SecretStr = Field(min_length=1, description="What callers send as X-API-Key.")
    role: Literal["read", "write"] = Field(default="read", description="Search, or also add and delete documents.")
    requests_per_second: float | None = Field(default=None, gt=0, description="Further ones are refused with 429.")
    knowledge_bases: list[str] | None = Field(default=None, description="Names of those it is for; null for all.")
    tenant: dict[str, Any] = Field(default={}, description="Metadata that documents need to be seen with this key.")


class Place(BaseModel, extra="forbid"):
    """Where the documents of one knowledge base live: in a file (`path`), or in stores."""

    path: Path | None = Field(default=None, description="A knowledge base file; made if missing.")
    postgres_url: SecretStr | None = Field(default=None, description="PostgreSQL with pgvector: words, vectors, graph.")
    postgres_table: str = Field(default="knowledge_base", min_length=1, description="Table of the documents.")
    qdrant_url: str | None = Field(default=None, description="Qdrant: vectors. A path is a local Qdrant.")
    qdrant_collection: str = Field(default="knowledge_base", min_length=1)
    qdrant_api_key: SecretStr | None = None
    elasticsearch_url: str | None = Field(default=None, description="Elasticsearch: words, and vectors without Qdrant.")
    elasticsearch_index: str = Field(default="knowledge_base", min_length=1)
    elasticsearch_api_key: SecretStr | None = None
    graph: str | None = Field(default=None, description="Graph of documents in stores: a file, or a PostgreSQL URL.")
    embedding_model: str | None = Field(default=None, description="If it is another than that of all.")
    embedding_dimension: int | None = Field(default=None, ge=1, description="Asked of the model if not given.")
    corpus: Path | None = Field(default=None, description="What to index at the start.")
    recipe: str | None = Field(default=None, description="A recipe of its own.")

    @model_validator(mode="after")
    def _one_kind(self) -> "Place":
        stores = self.qdrant_url is not None or self.elasticsearch_url is not None
        if (self.path is not None) + (self.postgres_url is not None) + stores != 1:
            raise ValueError("needs path, postgres_url, or one or both of qdrant_url and elasticsearch_url")
        return self


class Settings(BaseSettings):
    """Environment variables start with SEARCH_ and win over the YAML file that SEARCH_CONFIG names.

    Nested ones take two underscores, as in SEARCH_SYNTHESIS__URL.
    """

    model_config = SettingsConfigDict(
        env_prefix="SEARCH_", env_nested_delimiter="__", env_parse_none_str="null", extra="forbid"
    )

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=8006, ge=0, le=65535, description="Port to listen on; 0 takes any that is free.")
    workers: int = Field(default=1, ge=1, le=64, description="Processes that answer.")
    threads: int = Field(default=1, ge=1, le=64, description="Searches at once in each; more only for slow rerankers.")

    knowledge_base: Path = Field(default=Path("search_service.db"), description="The file to search; made if missing.")
    knowledge_bases: dict[str, Place] = Field(default={}, description="Several by name; the first is the usual one.")
    embedding_model: str = Field(
        default="static", min_length=1, description="static, or a sentence-transformers model."
    )
    corpus: Path | None = Field(
        default=HERE / "corpus.jsonl", description="What to index at the start; null for nothing."
    )
    recipe: str = Field(
        default="service", description="A shipped recipe or a YAML file with sources text, vector and graph."
    )
    rerank: Stage | None = Field(default=None, description="A stage that reranks, such as {kind: cross_encoder}.")
    synthesis: Synthesis = Field(default_factory=Synthesis)
    mcp: Mcp = Field(default_factory=Mcp)
    state: Path | None = Field(
        default=None, description="Folder for jobs, feedback and metrics; beside the knowledge base if not given."
    )

    feedback: bool = Field(default=True, description="Whether to keep which results are relevant, with the questions.")
    max_judgements: int = Field(default=10_000, ge=1, description="Further ones are refused.")

    default_method: Method = Field(default="hybrid", description="The method of requests that name none.")
    default_limit: int = Field(default=10, ge=1, le=100, description="The limit of requests that have none.")
    min_relevance: float = Field(default=0.15, ge=0, le=1, description="The minimum of requests that have none.")

    api_key: SecretStr | None = Field(default=None, description="If set, callers must send it; it may do everything.")
    keys: list[Key] = Field(default=[], description="Keys with a role, a limit, knowledge bases and a tenant each.")
    anonymous_role: Role | None = Field(
        default=None,
        description="Of callers without a key: none if there are keys, else write on loopback, else read.",
    )
    cors_origins: list[str] = Field(default=[], description="Origins whose pages may call the service; none.")

    max_body_bytes: int = Field(default=64 * 1024, ge=1024, description="Larger requests are refused.")
    max_document_bytes: int = Field(default=1024 * 1024, ge=1024, description="Larger documents are refused.")
    max_upload_bytes: int = Field(default=32 * 1024 * 1024, ge=1024, description="Larger uploads are refused.")
    max_waiting: int = Field(
        default=256, ge=1, description="Searches under way or waiting; further ones are sent away."
    )
    max_writing: int = Field(default=32, ge=1, description="Writes under way or waiting; further ones are sent away.")
    max_jobs: int = Field(default=16, ge=1, description="Uploads that wait; further ones are sent away.")
    max_head_bytes: int = Field(default=16 * 1024, ge=1024, description="Requests with longer headers are refused.")
    max_connections: int = Field(
        default=512, ge=1, description="Beyond these, the connection goes that has been silent the longest."
    )
    head_seconds: float = Field(default=10.0, gt=0, description="How long the headers of a request may take.")
    keep_alive_seconds: int = Field(
        default=75, ge=1, description="How long a connection may rest between requests: longer than a proxy lets it."
    )
    request_seconds: float = Field(default=10.0, gt=0, description="A search that takes longer is given up.")
    shutdown_seconds: int = Field(default=15, ge=0, description="How long running requests may go on after SIGTERM.")
    cache_entries: int = Field(default=1024, ge=0, description="Answers to keep for five minutes; 0 for none.")
    log_level: str = Field(default="INFO", pattern="^(DEBUG|INFO|WARNING|ERROR)$", description="How much to log.")

    @field_validator("api_key")
    @classmethod
    def _not_empty(cls, key: SecretStr | None) -> SecretStr | None:
        if key is not None and not key.get_secret_value():
            raise ValueError("must not be empty; leave it out to let everybody in")
        return key

    @model_validator(mode="after")
    def _tools_have_a_knowledge_base(self) -> Self:
        wanted = self.mcp.knowledge_base
        if wanted is not None and wanted not in self.places:
            raise ValueError(f"mcp.knowledge_base: {wanted!r} is not one of {', '.join(self.places)}")
        return self

    @property
    def places(self) -> dict[str, Place]:
        """Every knowledge base by name, the usual one first."""
        own = self.knowledge_bases or {DEFAULT: Place(path=self.knowledge_base)}
        filled = {}
        for name, place in own.items():
            corpus = self.corpus if name == DEFAULT and "corpus" not in place.model_fields_set else place.corpus
            model = place.embedding_model or self.embedding_model
            filled[name] = place.model_copy(update={"corpus": corpus, "embedding_model": model})
        return filled

    @property
    def state_folder(self) -> Path:
        """Where jobs, feedback and metrics are kept."""
        return self.state or self.knowledge_base.with_suffix(".state")

    @property
    def run_folder(self) -> Path:
        """What the workers of one start share: figures and rates."""
        return self.state_folder / "run"

    @property
    def all_keys(self) -> list[Key]:
        """Every key; `api_key` is one that may do everything."""
        own = [Key(name="api_key", key=self.api_key, role="write")] if self.api_key else []
        return [*own, *self.keys]

    @property
    def anonymous(self) -> Role:
        """What callers without a key may do."""
        if self.anonymous_role is not None:
            return self.anonymous_role
        if self.all_keys:
            return "none"
        return "write" if self.host in LOOPBACK else "read"

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource, **others: Any
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        file = os.environ.get("SEARCH_CONFIG")
        if file and not Path(file).is_file():
            raise FileNotFoundError(f"SEARCH_CONFIG: there is no file {file}")
        yaml = (YamlConfigSettingsSource(settings_cls, yaml_file=file),) if file else ()
        return (init_settings, others["env_settings"], _CommonNames(settings_cls), *yaml)


class _CommonNames(PydanticBaseSettingsSource):
    """Variables that other services have, too: RETRIEVER_*, and where the usual knowledge base lives."""

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:
        """Not used, as all are read at once."""
        raise NotImplementedError

    def __call__(self) -> dict[str, Any]:
        """What is set."""
        own = {field: os.environ[name] for name, field in _COMMON_NAMES.items() if os.environ.get(name)}
        place = {name.lower(): os.environ[name] for name in _PLACE_NAMES if os.environ.get(name)}
        if place.keys() & {"postgres_url", "qdrant_url", "elasticsearch_url"}:
            return {**own, "knowledge_bases": {DEFAULT: place}}
        return own
