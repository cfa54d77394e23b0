// Sends an answer until the server has taken or refused it. The server stores a step once, however often it comes.

const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30000;
const PATIENCE = 20000; // one try; then the connection counts as lost

// The server's answer as {status, html}; `failed` is called once, with a function that tries at once.
export async function deliver(body, { failed }) {
  let wait = FIRST_WAIT;
  let reported = false;
  let retryNow = () => {};
  for (;;) {
    const answer = await once("POST", body);
    if (isOurs(answer)) return answer;
    const asked = answer?.retryAfter ? Math.min(answer.retryAfter * 1000, LONGEST_WAIT) : wait;
    const pause = waiting(asked * (0.75 + Math.random() / 2));
    retryNow = pause.end;
    if (!reported) failed(() => retryNow());
    reported = true;
    await pause.done;
    wait = Math.min(wait * 2, LONGEST_WAIT);
  }
}

// The page the assessor is on, or null where it cannot be had now.
export async function fetchPage() {
  const answer = await once("GET", null);
  return isOurs(answer) ? answer : null;
}

async function once(method, body) {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), PATIENCE);
  const headers = { "X-Fragment": "1" };
  if (body !== null) headers["Content-Type"] = "application/x-www-form-urlencoded";
  try {
    const response = await fetch("/work", { method, body, headers, cache: "no-store", signal: limit.signal });
    const html = await response.text();
    return { status: response.status, html, retryAfter: Number(response.headers.get("Retry-After")) || 0 };
  } catch {
    return null; // no connection, or too slow: fetch does not tell them apart
  } finally {
    clearTimeout(timer);
  }
}

// Taken or refused by our server, and not the page of a proxy or of a network that wants a login first.
function isOurs(answer) {
  if (answer === null || answer.status >= 500 || answer.status === 429 || answer.status === 408) return false;
  return answer.html.includes('id="sheet"');
}

// A pause that ends by itself, when told to, or when the browser says that it is online again.
function waiting(milliseconds) {
  let end = () => {};
  const done = new Promise((resolve) => {
    const timer = setTimeout(() => end(), milliseconds);
    end = () => {
      clearTimeout(timer);
      window.removeEventListener("online", end);
      resolve();
    };
    window.addEventListener("online", end);
  });
  return { done, end };
}
