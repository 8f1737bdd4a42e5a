// The journey of the live benchmarks for k6: upload, stream, results, cleanup. k6 gives a stream to its script when the stream
// has ended, with all events at once.
//
// Settings come by environment variables: BASE, PHOTO, COUNTS (JSON), PHONES, RATE (journeys a second, evenly spaced; 0: each
// phone begins again at once) and SECONDS in which journeys begin.

import http from 'k6/http';
import { Counter } from 'k6/metrics';

const rate = Number(__ENV.RATE);
const phones = Number(__ENV.PHONES);
const photo = open(__ENV.PHOTO, 'b');
const journeys = new Counter('journeys');
const events = new Counter('events');
const errors = new Counter('errors');
const load = rate
  ? { executor: 'constant-arrival-rate', rate, timeUnit: '1s', preAllocatedVUs: phones }
  : { executor: 'constant-vus', vus: phones };

export const options = {
  scenarios: { phones: { ...load, duration: `${__ENV.SECONDS}s`, gracefulStop: '60s' } },
};

const device = `00000000-0000-4000-8000-${String(__VU).padStart(12, '0')}`;

function require(holds, answer) {
  if (!holds) throw new Error(`not the answer of the journey: ${answer.status} ${answer.error}`);
}

export default function () {
  try {
    const upload = http.post(
      `${__ENV.BASE}/v3/jobs/scans`, { 'photos[]': http.file(photo, 'photo.jpg', 'image/jpeg') },
      { headers: { 'X-Device-ID': device } });
    require(upload.status === 202, upload);
    const job = upload.json('data');
    const headers = { 'X-Device-ID': device, Authorization: `Bearer ${job.authToken}` };
    const stream = http.get(
      `${__ENV.BASE}${job.sseUrl}`, { headers: { ...headers, Accept: 'text/event-stream' }, timeout: '60s' });
    const kinds = stream.body.split('\n').filter((line) => line.startsWith('event: '));
    require(kinds[kinds.length - 1] === 'event: completed', stream);
    events.add(kinds.length);
    const results = http.get(`${__ENV.BASE}/v3/jobs/scans/${job.jobId}/results?format=lite`, { headers });
    require(results.status === 200 && results.json('data.results.0.title'), results);
    const cleanup = http.del(`${__ENV.BASE}/v3/jobs/scans/${job.jobId}/cleanup`, null, { headers });
    require(cleanup.status === 204, cleanup);
    journeys.add(1);
  } catch (error) {
    errors.add(1);
  }
}

export function handleSummary({ metrics }) {
  const count = (name) => (metrics[name] ? metrics[name].values.count : 0);
  return {
    [__ENV.COUNTS]: JSON.stringify({ journeys: count('journeys'), events: count('events'), errors: count('errors') }),
  };
}
