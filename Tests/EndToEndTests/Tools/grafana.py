"""Checks a dashboard for Grafana with the types of Grafana's own SDK (grafana-foundation-sdk): whatever they do not know is lost
on the way through them.

usage: grafana.py FILE
"""

import json
import sys

from grafana_foundation_sdk.cog import plugins
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard


def lost(told, back, path):
    """What is in the first and not in the second, by its path."""
    if isinstance(told, dict) and isinstance(back, dict):
        return [line for key in told for line in lost(told[key], back.get(key), path + "/" + key)]
    if isinstance(told, list) and isinstance(back, list) and len(told) == len(back):
        return [line for i, pair in enumerate(zip(told, back)) for line in lost(*pair, "%s/%d" % (path, i))]
    return [] if told == back else [path]


plugins.register_default_plugins()
with open(sys.argv[1], encoding="utf-8") as file:
    dashboard = json.load(file)
lines = lost(dashboard, json.loads(JSONEncoder().encode(Dashboard.from_json(dashboard))), "")
ids = [panel["id"] for panel in dashboard["panels"]]
lines += ["two panels have one id"] if len(set(ids)) < len(ids) else []
sys.exit("\n".join("%s: Grafana does not know %s" % (sys.argv[1], line) for line in lines) or 0)
