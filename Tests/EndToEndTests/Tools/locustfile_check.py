"""Checks Distributed/locustfile.py without a master: what the plugin answers its workers, and what it makes of what they hand over.

    locustfile_check.py FOLDER

SWIFTWING_SIM and SWIFTWING_SCENARIO as for the locustfile.
"""

import importlib.util
import os
import signal
import sys
import unittest
import zlib
from types import SimpleNamespace

# A test runner may block SIGCHLD, without which gevent never hears of the end of a child.
signal.pthread_sigmask(signal.SIG_SETMASK, [])
FOLDER = sys.argv.pop(1)
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SPEC = importlib.util.spec_from_file_location("locustfile", os.path.join(ROOT, "Distributed/locustfile.py"))
plugin = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(plugin)
GROUP = plugin.PLAN["groups"][0]["name"]


class Runner:
    """A master's runner: what it is told to send is kept."""

    target_user_count = 4

    def __init__(self):
        self.sent = []

    def register_message(self, name, handler):
        pass

    def send_message(self, name, data=None, client_id=None):
        self.sent.append((name, data, client_id))

    def get_worker_index(self, client_id):
        return int(client_id[-1])


class Case(unittest.TestCase):
    def setUp(self):
        self.runner = Runner()
        listeners = SimpleNamespace(add_listener=lambda handler: None)
        events = SimpleNamespace(
            test_start=listeners, test_stopping=listeners, worker_connect=listeners, heartbeat_sent=listeners)
        self.environment = SimpleNamespace(
            runner=self.runner, events=events, process_exit_code=None, parsed_options=None)
        self.coordinator = plugin.Coordinator(self.environment)
        self.words = None
        self.code = 0

        def run(words, **_):
            self.words = words
            return SimpleNamespace(returncode=self.code, stdout=b"")

        plugin.subprocess = SimpleNamespace(run=run, PIPE=None, STDOUT=None)
        os.environ["SWIFTWING_OUTPUT"] = os.path.join(FOLDER, self.id())

    def message(self, worker, **data):
        return SimpleNamespace(node_id=worker, data=data)

    def begin(self):
        self.coordinator.on_test_start(self.environment)
        return self.coordinator.test

    def lease(self, worker, count):
        test = self.coordinator.test
        self.coordinator.on_lease(None, self.message(worker, test=test.id, groups={GROUP: count}))
        return self.runner.sent[-1][1]["phones"].get(GROUP, [])

    def hand_over(self, worker, files=plugin.EVIDENCE, code=0, size=3):
        test = self.coordinator.test
        for name in files:
            piece = {"file": name, "offset": 0, "bytes": zlib.compress(b"abc")}
            # The second one is a repetition.
            for _ in range(2):
                self.coordinator.on_evidence(None, self.message(worker, test=test.id, **piece))
        self.coordinator.on_evidence_complete(
            None, self.message(worker, test=test.id, files={name: size for name in files}, code=code))

    def judge(self):
        test = self.coordinator.test
        return self.coordinator.judge(test)

    # Joining.

    def test_a_worker_of_this_version_gets_the_scenario(self):
        self.coordinator.on_hello(None, self.message("w0", tool=plugin.PLAN["tool"], phones_max=1))
        name, offer, worker = self.runner.sent[-1]
        self.assertEqual((name, worker), ("swiftwing.scenario", "w0"))
        self.assertEqual(offer["tool"], plugin.PLAN["tool"])
        self.assertIn("fleet:", offer["text"])

    def test_a_worker_of_another_version_is_refused(self):
        for tool in ("swiftwing-sim 0.0.1", None):
            self.coordinator.on_hello(None, self.message("w0", tool=tool, phones_max=1))
            name, data, worker = self.runner.sent[-1]
            self.assertEqual((name, worker), ("swiftwing.refused", "w0"))
            self.assertIn(plugin.PLAN["tool"], data["reason"])

    def test_a_worker_without_a_version_is_refused(self):
        self.coordinator.on_hello(None, self.message("w0", phones_max=1))
        self.assertEqual(self.runner.sent[-1][0], "swiftwing.refused")

    # Phones.

    def test_no_phone_is_leased_twice(self):
        self.begin()
        first, second = self.lease("w0", 2), self.lease("w1", 2)
        self.assertEqual(len({number for number, _ in first + second}), 4)

    def test_a_phone_that_comes_back_goes_on_behind_its_last_scan(self):
        test = self.begin()
        size = test.sizes[GROUP]
        phones = self.lease("w0", size)
        self.assertEqual(len(phones), size)
        self.coordinator.on_returned(None, self.message("w0", test=test.id, phones=[[phones[0][0], 7]]))
        self.assertEqual(self.lease("w1", 1), [[phones[0][0], 7]])
        self.assertEqual(self.lease("w1", 1), [])
        self.assertEqual(test.denied, {GROUP: 1})

    def test_a_phone_that_another_worker_has_is_not_taken_back(self):
        test = self.begin()
        phones = self.lease("w0", 1)
        self.coordinator.on_returned(None, self.message("w1", test=test.id, phones=[[phones[0][0], 7]]))
        self.assertEqual(test.numbers[GROUP].returned, [])

    def test_a_message_of_an_earlier_test_is_ignored(self):
        test = self.begin()
        self.coordinator.on_lease(None, self.message("w0", test="earlier", groups={GROUP: 1}))
        self.assertEqual(self.runner.sent[-1][1]["phones"], {})
        self.assertEqual(test.workers, {})

    # The verdict.

    def test_all_evidence_is_merged_and_the_code_is_that_of_the_merge(self):
        self.begin()
        for worker in ("w0", "w1"):
            self.lease(worker, 1)
            self.hand_over(worker)
        self.code = 97
        self.assertEqual(self.judge(), 97)
        folders = [word for word in self.words if os.path.basename(os.path.dirname(word)) == "workers"]
        self.assertEqual([os.path.basename(folder) for folder in folders], ["0", "1"])
        for folder in folders:
            for name in plugin.EVIDENCE:
                with open(os.path.join(folder, name), "rb") as stream:
                    self.assertEqual(stream.read(), b"abc")
        self.assertNotIn("--missing", self.words)

    def test_a_worker_without_whole_evidence_is_named(self):
        for damage in ({"files": plugin.EVIDENCE[1:]}, {"size": 4}):
            self.begin()
            for worker in ("w0", "w1"):
                self.lease(worker, 1)
            self.hand_over("w0")
            self.hand_over("w1", **damage)
            self.judge()
            self.assertEqual(len([word for word in self.words if "/workers/" in word]), 1)
            self.assertIn("worker 1: phones 1", self.words[self.words.index("--missing") + 1])

    def test_a_worker_that_began_again_is_named_with_its_first_phones(self):
        test = self.begin()
        self.lease("w0", 2)
        self.coordinator.on_worker_connect("w0")
        self.lease("w0", 1)
        self.hand_over("w0")
        self.judge()
        self.assertIn("worker 0: phones 0-1", self.words[self.words.index("--missing") + 1])
        self.assertEqual(len(test.workers), 2)

    def test_users_without_phones_are_named(self):
        test = self.begin()
        self.lease("w0", test.sizes[GROUP] + 3)
        self.hand_over("w0")
        self.judge()
        self.assertIn(f"3 users of {GROUP}", self.words[self.words.index("--missing") + 1])

    def test_no_evidence_is_no_pass(self):
        self.begin()
        self.lease("w0", 1)
        self.assertEqual(self.judge(), plugin.UNTRUSTWORTHY)
        self.assertIsNone(self.words)

    def test_until_there_is_a_verdict_a_test_is_no_pass(self):
        self.begin()
        self.assertEqual(self.environment.process_exit_code, plugin.UNTRUSTWORTHY)

    def test_the_workers_know_how_the_test_is_made_again(self):
        begin = self.begin().begin()
        self.assertEqual(begin["command"][:2], ["env", f"SWIFTWING_SCENARIO={os.environ['SWIFTWING_SCENARIO']}"])
        self.assertEqual(begin["command"][2], "locust")


if __name__ == "__main__":
    unittest.main()
