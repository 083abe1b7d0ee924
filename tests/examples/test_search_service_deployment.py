"""What the search service is shipped with: a Dockerfile and Kubernetes manifests that fit it and one another."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

EXAMPLE = Path(__file__).parents[2] / "examples" / "search_service"
ROOT = EXAMPLE.parents[1]
MANIFESTS = EXAMPLE / "kubernetes"


def manifest(name):
    return yaml.safe_load((MANIFESTS / name).read_text())


@pytest.fixture
def pod():
    return manifest("deployment.yaml")["spec"]["template"]["spec"]


def test_the_kustomization_names_every_file():
    listed = manifest("kustomization.yaml")["resources"]
    assert sorted(listed) == sorted(file.name for file in MANIFESTS.glob("*.yaml") if file.name != "kustomization.yaml")
    for name in listed:
        one = manifest(name)
        assert {"apiVersion", "kind", "metadata"} <= set(one)
        assert re.fullmatch(r"[a-z0-9-]{1,63}", one["metadata"]["name"])


def test_pods_have_no_rights_they_do_not_need(pod):
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


def test_probes_and_ports_fit_the_service(pod, service):
    (container,) = pod["containers"]
    assert container["ports"] == [{"name": "http", "containerPort": 8006}]
    for kind in ("startupProbe", "readinessProbe", "livenessProbe"):
        asked = container[kind]["httpGet"]
        assert asked["port"] == "http"
        assert service.client.get(asked["path"]).status_code == 200
    served = manifest("service.yaml")["spec"]
    assert served["ports"][0]["targetPort"] == "http"
    template = manifest("deployment.yaml")["spec"]
    assert served["selector"] == template["selector"]["matchLabels"] == template["template"]["metadata"]["labels"]


def test_volumes_are_all_there_and_hold_what_is_written(pod):
    (container,) = pod["containers"]
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert mounts.keys() == {volume["name"] for volume in pod["volumes"]}
    by_name = {volume["name"]: volume for volume in pod["volumes"]}
    assert by_name["data"]["persistentVolumeClaim"]["claimName"] == manifest("volume.yaml")["metadata"]["name"]
    assert by_name["settings"]["configMap"]["name"] == manifest("configmap.yaml")["metadata"]["name"]
    assert docker()["ENV"]["SEARCH_KNOWLEDGE_BASE"].startswith(mounts["data"] + "/")
    environment = {one["name"]: one for one in container["env"]}
    assert environment["SEARCH_CONFIG"]["value"] == f"{mounts['settings']}/settings.yaml"
    assert environment["SEARCH_API_KEY"]["valueFrom"]["secretKeyRef"]["optional"] is True


def test_the_settings_in_the_config_map_are_valid(pod, tmp_path):
    (file,) = manifest("configmap.yaml")["data"].values()
    (tmp_path / "settings.yaml").write_text(file)
    program = "from search_service.settings import Settings; print(Settings().shutdown_seconds)"
    environment = {"SEARCH_CONFIG": str(tmp_path / "settings.yaml"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=EXAMPLE, env=environment, capture_output=True, text=True, check=True
    )
    assert pod["terminationGracePeriodSeconds"] > int(done.stdout)


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


def test_what_the_image_copies_exists():
    for copied in docker()["COPY"]:
        *sources, _ = copied.split()
        if not sources[0].startswith("--from"):
            assert all((ROOT / source).exists() for source in sources), copied


def test_the_service_needs_no_home_and_writes_nothing_but_its_data(run_service, tmp_path):
    """As in the image: no home, nothing to write to but the folder of the knowledge base."""
    with run_service(tmp_path, HOME="/nonexistent", PYTHONDONTWRITEBYTECODE="1", SEARCH_HOST="0.0.0.0") as running:
        assert running.search("Who leads the team that owns Kestrel?").json()["total_results"] > 0
    # readers leave SQLite's own side files behind, which are empty
    assert {file.name for file in tmp_path.iterdir()} <= {"kb.db", "kb.db-shm", "kb.db-wal", "kb.state", "log.jsonl"}
