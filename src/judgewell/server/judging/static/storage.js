// localStorage that never throws: it may be full, switched off or hold something else.

export function store(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // nothing kept
  }
}

export function recall(name) {
  try {
    return JSON.parse(localStorage.getItem(name));
  } catch {
    return null;
  }
}

export function forget(name) {
  try {
    localStorage.removeItem(name);
  } catch {
    // nothing was kept
  }
}
