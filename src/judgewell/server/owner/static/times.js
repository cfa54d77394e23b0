// Moments in the time zone of whoever looks.

const day = new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });

export function localTimes(section) {
  const today = new Date().toDateString();
  for (const time of section.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    const short = time.classList.contains("clock") && at.toDateString() === today;
    time.textContent = (short ? clock : day).format(at);
    time.title = `${time.dateTime.slice(0, 19).replace("T", " ")} UTC`;
  }
}
