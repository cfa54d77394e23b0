// Moments in the time zone of whoever looks, in one form: 2026-05-31 14:05 GMT+2; of today the time alone where that is enough.

const two = (number) => String(number).padStart(2, "0");
const day = (at) => `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
const minutes = (at) => `${two(at.getHours())}:${two(at.getMinutes())}`;

const ZONE = new Intl.DateTimeFormat("en", { timeZoneName: "short" });
const zone = (at) => ZONE.formatToParts(at).find((part) => part.type === "timeZoneName").value;

export function localTimes(section) {
  const today = day(new Date());
  for (const time of section.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    const short = time.classList.contains("clock") && day(at) === today;
    const text = short ? `${minutes(at)}:${two(at.getSeconds())}` : `${day(at)} ${minutes(at)}`;
    time.textContent = `${text} ${zone(at)}`;
    time.title = `${time.dateTime.slice(0, 19).replace("T", " ")} UTC`;
  }
}
