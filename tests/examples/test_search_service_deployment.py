"""What the search service is shipped with: an image, compose files and Kubernetes manifests that fit one another."""

import json
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import yaml

EXAMPLE = Path(__file__).parents[2] / "examples" / "search_service"
ROOT = EXAMPLE.parents[1]
MODES = {mode: EXAMPLE / "kubernetes" / mode for mode in ("embedded", "postgres")}
COMPOSE = {"embedded": EXAMPLE / "compose.yaml", "postgres": EXAMPLE / "compose.postgres.yaml"}
NAME = "search-service"


class Manifests(dict):
    """What is applied for one mode, by kind and name."""

    def __init__(self, mode):
        self.folder = MODES[mode]
        listed = yaml.safe_load((self.folder / "kustomization.yaml").read_text())["resources"]
        self.listed = sorted(listed)
        every = [one for name in listed for one in yaml.safe_load_all((self.folder / name).read_text())]
        super().__init__({(one["kind"], one["metadata"]["name"]): one for one in every})
        assert len(self) == len(every)

    def pods(self):
        """Labels and specification of every pod."""
        owners = [one["spec"] for (kind, _), one in self.items() if kind in ("Deployment", "StatefulSet")]
        for spec in owners:
            labels = spec["template"]["metadata"]["labels"]
            assert spec["selector"]["matchLabels"] == labels
            yield labels, spec["template"]["spec"], spec.get("volumeClaimTemplates", [])

    @property
    def pod(self):
        return self["Deployment", NAME]["spec"]["template"]["spec"]

    @property
    def settings(self):
        (file,) = self["ConfigMap", NAME]["data"].values()
        return file


@pytest.fixture(params=MODES)
def manifests(request):
    return Manifests(request.param)


def read_settings(tmp_path, yaml_text="", **environment):
    """What the service makes of a YAML file and variables; it refuses names that it does not know."""
    (tmp_path / "settings.yaml").write_text(yaml_text or "{}")
    program = "from search_service.settings import Settings; print(Settings().model_dump_json())"
    variables = {"SEARCH_CONFIG": str(tmp_path / "settings.yaml"), "PATH": "/usr/bin:/bin", **environment}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=EXAMPLE, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@cache
def known_variables():
    """Every variable of the service that settings know, in a form to match names with."""
    imports = "import json; from search_service.settings import Settings, Place, Synthesis, Mcp"
    program = f"{imports}; print(json.dumps([list(one.model_fields) for one in (Settings, Place, Synthesis, Mcp)]))"
    done = subprocess.run([sys.executable, "-c", program], cwd=EXAMPLE, capture_output=True, text=True, check=True)
    settings, place, synthesis, mcp = json.loads(done.stdout)
    plain = "|".join([*settings, "config"])
    nested = f"synthesis__({'|'.join(synthesis)})|mcp__({'|'.join(mcp)})|knowledge_bases__[a-z]+__({'|'.join(place)})"
    return re.compile(f"SEARCH_({plain}|{nested})", re.I)


def test_the_kustomization_names_every_file(manifests):
    assert manifests.listed == sorted(
        file.name for file in manifests.folder.glob("*.yaml") if file.name != "kustomization.yaml"
    )
    for (_, name), one in manifests.items():
        assert {"apiVersion", "kind", "metadata"} <= set(one)
        assert re.fullmatch(r"[a-z0-9-]{1,63}", name)


def test_pods_have_no_rights_they_do_not_need(manifests):
    for _, pod, _ in manifests.pods():
        (container,) = pod["containers"]
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] >= 10000
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert set(container["resources"]) == {"requests", "limits"}
        assert all({"cpu", "memory"} == set(bound) for bound in container["resources"].values())


def test_probes_and_ports_fit_the_service(manifests, service):
    (container,) = manifests.pod["containers"]
    assert container["ports"] == [{"name": "http", "containerPort": int(docker()["ENV"]["SEARCH_PORT"])}]
    asked = {kind: container[f"{kind}Probe"]["httpGet"] for kind in ("startup", "readiness", "liveness")}
    assert {kind: one["path"] for kind, one in asked.items()} == {
        "startup": "/health/ready",
        "readiness": "/health/ready",
        "liveness": "/health/live",
    }
    for one in asked.values():
        assert one["port"] == "http"
        assert service.client.get(one["path"]).status_code == 200


def test_services_and_network_policies_select_pods_and_ports_that_exist(manifests):
    pods = {tuple(labels.items()): pod for labels, pod, _ in manifests.pods()}
    ports = {
        labels: {port[key] for port in pod["containers"][0]["ports"] for key in ("name", "containerPort")}
        for labels, pod in pods.items()
    }
    for (kind, _), one in manifests.items():
        if kind == "Service":
            selected = tuple(one["spec"]["selector"].items())
            assert {port["targetPort"] for port in one["spec"]["ports"]} <= ports[selected]
        if kind == "NetworkPolicy":
            selected = tuple(one["spec"]["podSelector"]["matchLabels"].items())
            assert one["spec"]["policyTypes"] == ["Ingress", "Egress"]
            assert {port["port"] for rule in one["spec"]["ingress"] for port in rule["ports"]} <= ports[selected]
            for rule in one["spec"].get("egress", []):
                for to in rule.get("to", []):
                    reached = tuple(to["podSelector"]["matchLabels"].items())
                    assert {port["port"] for port in rule["ports"]} <= ports[reached]
    policies = [
        one["spec"]["podSelector"]["matchLabels"] for (kind, _), one in manifests.items() if kind == "NetworkPolicy"
    ]
    assert sorted(map(str, policies)) == sorted(str(dict(labels)) for labels in pods)


def test_volumes_are_all_there_and_hold_what_is_written(manifests):
    for _, pod, claims in manifests.pods():
        (container,) = pod["containers"]
        mounted = {mount["name"] for mount in container["volumeMounts"]}
        assert mounted == {one["name"] for one in pod["volumes"]} | {one["metadata"]["name"] for one in claims}
    (container,) = manifests.pod["containers"]
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    by_name = {volume["name"]: volume for volume in manifests.pod["volumes"]}
    assert ("PersistentVolumeClaim", by_name["data"]["persistentVolumeClaim"]["claimName"]) in manifests
    assert ("ConfigMap", by_name["settings"]["configMap"]["name"]) in manifests
    assert docker()["ENV"]["SEARCH_KNOWLEDGE_BASE"].startswith(mounts["data"] + "/")
    environment = {one["name"]: one for one in container["env"]}
    assert environment["SEARCH_CONFIG"]["value"] == f"{mounts['settings']}/settings.yaml"
    assert environment["SEARCH_API_KEY"]["valueFrom"]["secretKeyRef"]["optional"] is True


def test_settings_and_variables_are_known_and_fit_one_another(manifests, tmp_path):
    (container,) = manifests.pod["containers"]
    names = [one["name"] for one in container["env"]]
    assert all(known_variables().fullmatch(name) for name in names)
    secret = {one["name"]: "postgresql://x/y" for one in container["env"] if one["name"].endswith("_URL")}
    settings = read_settings(tmp_path, manifests.settings, **secret)
    assert manifests.pod["terminationGracePeriodSeconds"] > settings["shutdown_seconds"]
    assert NAME in settings["mcp"]["allowed_hosts"]  # the name of the Service, which listens on port 80
    if secret:
        ((name, base),) = settings["knowledge_bases"].items()
        assert secret.keys() == {f"SEARCH_KNOWLEDGE_BASES__{name.upper()}__POSTGRES_URL"}
        assert base["postgres_url"]
        assert base["corpus"] == image_path("corpus.jsonl")
        assert Path(settings["state"]).is_relative_to("/data")


def test_secrets_are_referred_to_and_never_written(manifests):
    assert not any(kind == "Secret" for kind, _ in manifests)
    for _, pod, _ in manifests.pods():
        for one in pod["containers"][0]["env"]:
            if re.search("KEY|PASSWORD|URL", one["name"]):
                assert "secretKeyRef" in one["valueFrom"]
    created = (manifests.folder / "kustomization.yaml").read_text() + yaml.safe_dump(manifests.pod)
    assert "password=..." in created or manifests.folder.name == "embedded"


@pytest.mark.parametrize("mode", COMPOSE)
def test_compose_fits_the_image_and_the_settings(mode, tmp_path):
    composed = yaml.safe_load(COMPOSE[mode].read_text())
    search = composed["services"]["search"]
    context = (EXAMPLE / search["build"]["context"]).resolve()
    assert context == ROOT
    assert (context / search["build"]["dockerfile"]) == EXAMPLE / "Dockerfile"
    assert docker()["ARG"] == ["STORES=false"]
    assert search["build"].get("args", {}) == ({"STORES": "true"} if mode == "postgres" else {})
    assert search["image"].endswith("-stores") is (mode == "postgres")
    (container,) = Manifests(mode).pod["containers"]
    assert search["image"] == container["image"]
    assert search["ports"] == [f"127.0.0.1:8006:{docker()['ENV']['SEARCH_PORT']}"]
    assert search["volumes"] == [f"data:{docker()['VOLUME'][0]}"]
    assert (search["read_only"], search["cap_drop"]) == (True, ["ALL"])
    environment = {name: value for name, value in search["environment"].items() if value is not None}
    assert all(known_variables().fullmatch(name) for name in search["environment"])
    password = {name: value.replace("${POSTGRES_PASSWORD:?}", "x") for name, value in environment.items()}
    settings = read_settings(tmp_path, **password)
    assert int(search["stop_grace_period"].removesuffix("s")) > settings["shutdown_seconds"]
    used = {one.partition(":")[0] for service in composed["services"].values() for one in service["volumes"]}
    assert used == set(composed["volumes"])
    assert search.get("depends_on", {}).keys() == composed["services"].keys() - {"search"}
    if mode == "postgres":
        server = composed["services"]["postgres"]
        image = Manifests(mode)["StatefulSet", "search-service-postgres"]["spec"]["template"]["spec"]
        assert server["image"] == image["containers"][0]["image"]
        user, database = server["environment"]["POSTGRES_USER"], server["environment"]["POSTGRES_DB"]
        url = environment["SEARCH_KNOWLEDGE_BASES__HANDBOOK__POSTGRES_URL"]
        assert url == f"postgresql://{user}:${{POSTGRES_PASSWORD:?}}@postgres:5432/{database}"
        assert environment["SEARCH_KNOWLEDGE_BASES__HANDBOOK__CORPUS"] == image_path("corpus.jsonl")


def image_path(name):
    """Where the image has a file of the example."""
    copied = [line.split() for line in docker()["COPY"] if line.split()[0].endswith(f"/{name}")]
    assert len(copied) == 1
    return f"{docker()['WORKDIR'][-1]}/{name}"


def docker():
    """The instructions of the Dockerfile; of ENV, a mapping."""
    text = (EXAMPLE / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line.split(None, 1) for line in text.splitlines() if line and not line.startswith("#")]
    found = {}
    for word, rest in lines:
        found.setdefault(word, []).append(rest)
    found["ENV"] = dict(pair.split("=", 1) for rest in found["ENV"] for pair in shlex.split(rest))
    return found


def test_the_image_is_slim_and_runs_without_root():
    made = docker()
    assert all("python:3.11-slim" in image for image in made["FROM"])
    assert made["USER"] == ["10001:10001"]
    assert made["ENV"]["SEARCH_HOST"] == "0.0.0.0"
    assert "/health" in made["HEALTHCHECK"][0]
    assert made["CMD"] == ['["python", "-m", "search_service"]']
    assert not re.search(r"(?i)key|token|password|secret", "".join(made["ENV"]))


def test_what_the_image_copies_exists_and_is_sent_to_the_builder():
    sent = [line[1:] for line in (EXAMPLE / "Dockerfile.dockerignore").read_text().splitlines() if line[0] == "!"]
    for copied in docker()["COPY"]:
        *sources, _ = copied.split()
        if not sources[0].startswith("--from"):
            assert all((ROOT / source).exists() for source in sources), copied
            assert all(any(Path(source).is_relative_to(one) for one in sent) for source in sources), copied


def test_the_service_needs_no_home_and_writes_nothing_but_its_data(run_service, tmp_path):
    """As in the image: no home, nothing to write to but the folder of the knowledge base."""
    with run_service(tmp_path, HOME="/nonexistent", PYTHONDONTWRITEBYTECODE="1", SEARCH_HOST="0.0.0.0") as running:
        assert running.search("Who leads the team that owns Kestrel?").json()["total_results"] > 0
    # readers leave SQLite's own side files behind, which are empty
    data = {"kb.db", "kb.db-index", "kb.db-shm", "kb.db-wal", "kb.state"}
    assert {file.name for file in tmp_path.iterdir()} <= {*data, "log.jsonl"}


def test_the_variables_for_postgresql_start_a_service_on_it(run_service, tmp_path, pgvector_url):
    """As in compose.postgres.yaml, but for the address of the server and the paths of the image."""
    given = yaml.safe_load(COMPOSE["postgres"].read_text())["services"]["search"]["environment"]
    here = {
        "SEARCH_STATE": str(tmp_path / "state"),
        "SEARCH_KNOWLEDGE_BASES__HANDBOOK__POSTGRES_URL": pgvector_url,
        "SEARCH_KNOWLEDGE_BASES__HANDBOOK__CORPUS": str(EXAMPLE / "corpus.jsonl"),
    }
    assert here.keys() <= given.keys()
    variables = {**{name: value for name, value in given.items() if value is not None}, **here}
    with run_service(tmp_path, **variables) as running:
        answer = running.search("Who leads the team that owns Kestrel?").json()
        assert "teams/doorstep.md#1" in [result["receipt"]["id"] for result in answer["results"]]
        (base,) = running.client.get("/knowledge-bases").json()
        assert (base["name"], base["documents"]) == ("handbook", 94)
    assert not list(tmp_path.glob("*.db"))
