/* TREC runs against judged documents: bytes in, judged ranks out.
 *
 *   qrels(data)                                    -> topics, rows, documents and gains of a qrels file
 *   index(names, ends, topics, docs, ends, seed)   -> the judged documents, ready to be looked up
 *   rank(data, index, flags)                       -> where the judged documents stand in a run
 *
 * C reads no files and words no messages. Where anything is out of the ordinary, a function returns (kind, offset), and
 * the caller takes the Python path, which decides what the line means or how to refuse it. So a line may always be
 * turned down here; one that is taken must mean what Python would make of it.
 *
 * Arrays come back as bytes in the machine's own order. Stable ABI of CPython 3.11; the lock is released throughout.
 */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__SSE2__) && !defined(NO_SIMD)
#include <emmintrin.h>
#endif
#if defined(_MSC_VER)
#include <intrin.h>
#define PREFETCH(p) ((void)(p))
#else
#define PREFETCH(p) __builtin_prefetch(p)
#endif

typedef unsigned char byte;
typedef uint32_t u32;
typedef uint64_t u64;

enum { FINE, FIELDS, NUMBER, NOT_UTF8, NUL, LONE_CR, REPEATED, SCATTERED, TOO_LARGE, NO_MEMORY };
enum { SINGLE = 1, BY_RANK = 2, GATHER = 4 };
enum { MOST_FIELDS = 6 };

/* ------------------------------------------------------------------ memory */

typedef struct {
    void *at;
    size_t n, room;
} Vec;

/* Space for `count` more elements behind the last one, which the caller then counts; NULL where memory is out. */
static void *more(Vec *v, size_t count, size_t width) {
    if (v->n + count > v->room || !v->at) {
        size_t room = v->room ? v->room * 2 : 64;
        if (room < v->n + count) room = v->n + count;
        void *at = room > SIZE_MAX / width ? NULL : realloc(v->at, room * width);
        if (!at) return NULL;
        v->at = at;
        v->room = room;
    }
    return (byte *)v->at + v->n * width;
}

/* ------------------------------------------------------------------ bytes */

static u64 load8(const byte *p) { /* little-endian everywhere; compilers make one load of it */
    return (u64)p[0] | (u64)p[1] << 8 | (u64)p[2] << 16 | (u64)p[3] << 24 | (u64)p[4] << 32 | (u64)p[5] << 40
           | (u64)p[6] << 48 | (u64)p[7] << 56;
}

static u64 load4(const byte *p) { return (u64)p[0] | (u64)p[1] << 8 | (u64)p[2] << 16 | (u64)p[3] << 24; }

static int lowest_bit(u64 mask) {
#if defined(_MSC_VER) && defined(_WIN64)
    unsigned long at;
    _BitScanForward64(&at, mask);
    return (int)at;
#elif defined(_MSC_VER)
    int at = 0;
    while (!(mask >> at & 1)) at++;
    return at;
#else
    return __builtin_ctzll(mask);
#endif
}

/* Which of 64 bytes are blanks or control characters (<= 0x20), and whether any is not ASCII. */
static u64 blanks(const byte *p, u64 *high) {
    u64 mask = 0;
#if defined(__SSE2__) && !defined(NO_SIMD)
    const __m128i space = _mm_set1_epi8(0x20);
    for (int i = 0; i < 4; i++) {
        __m128i x = _mm_loadu_si128((const __m128i *)(p + 16 * i));
        mask |= (u64)(u32)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(x, space), x)) << (16 * i);
        *high |= (u64)(u32)_mm_movemask_epi8(x);
    }
#else
    const u64 tops = 0x8080808080808080ULL;
    for (int i = 0; i < 8; i++) {
        u64 x = load8(p + 8 * i);
        u64 above = ((x & ~tops) + 0x5F5F5F5F5F5F5F5FULL) | x; /* top bit of a byte: it is > 0x20 */
        mask |= (((~above & tops) >> 7) * 0x0102040810204080ULL >> 56) << (8 * i); /* gather the top bits */
        *high |= x & tops;
    }
#endif
    return mask;
}

static u64 mixed(u64 x) {
    x *= 0x9E3779B97F4A7C15ULL;
    x ^= x >> 32;
    x *= 0xE7037ED1A0B428DBULL;
    return x ^ x >> 29;
}

/* Only to find ids quickly: whether two are the same is decided by comparing them. */
static u64 hash_of(const byte *p, size_t n, u64 seed) {
    u64 hash = seed ^ n;
    if (n < 4) return mixed(hash ^ (n ? (u64)p[0] << 16 | (u64)p[n / 2] << 8 | p[n - 1] : 0));
    if (n < 8) return mixed(hash ^ (load4(p) | load4(p + n - 4) << 32));
    const byte *last = p + n - 8;
    for (; p < last; p += 8) hash = mixed(hash ^ load8(p));
    return mixed(hash ^ load8(last));
}

static int is_utf8(const byte *p, const byte *end) {
    while (p < end) {
        u32 c = *p++;
        if (c < 0x80) continue;
        int behind = c >= 0xC2 && c < 0xE0 ? 1 : (c & 0xF0) == 0xE0 ? 2 : c >= 0xF0 && c < 0xF5 ? 3 : -1;
        if (behind < 0 || end - p < behind) return 0;
        u32 d = *p; /* no overlong forms, no surrogates, nothing above U+10FFFF */
        if ((c == 0xE0 && d < 0xA0) || (c == 0xED && d > 0x9F) || (c == 0xF0 && d < 0x90) || (c == 0xF4 && d > 0x8F))
            return 0;
        while (behind--)
            if ((*p++ & 0xC0) != 0x80) return 0;
    }
    return 1;
}

/* ------------------------------------------------------------------ lines */

typedef struct {
    const byte *at;
    size_t n;
} Text;

typedef struct {
    Text field[MOST_FIELDS];
    int fields;       /* how many the line has, at most MOST_FIELDS + 1; 0 for blank lines and comments */
    const byte *next; /* where the line behind it begins */
} Line;

static int is_space(byte c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Any line at all. */
static int split_slowly(const byte *p, const byte *end, Line *line) {
    const byte *stop = memchr(p, '\n', (size_t)(end - p));
    line->next = stop ? stop + 1 : end;
    line->fields = 0;
    if (!stop) stop = end;
    if (memchr(p, 0, (size_t)(stop - p))) return NUL;
    const byte *cr = memchr(p, '\r', (size_t)(stop - p));
    if (cr && (cr + 1 < stop || stop == end)) return LONE_CR; /* ends a line too, says the Python path */
    if (!is_utf8(p, stop)) return NOT_UTF8;
    while (p < stop) {
        if (is_space(*p)) {
            p++;
            continue;
        }
        const byte *from = p;
        while (p < stop && !is_space(*p)) p++;
        if (!line->fields && *from == '#') return FINE;
        if (line->fields < MOST_FIELDS) line->field[line->fields] = (Text){from, (size_t)(p - from)};
        if (line->fields <= MOST_FIELDS) line->fields++;
    }
    return FINE;
}

/* The usual line quickly: one blank between fields, no blank at either end. */
static int split(const byte *p, const byte *end, Line *line) {
    const byte *from = p;
    u64 high = 0;
    int n = 0;
    if (*p == '#') return split_slowly(p, end, line);
    for (const byte *block = p; end - block >= 64; block += 64) {
        for (u64 mask = blanks(block, &high); mask; mask &= mask - 1) {
            const byte *q = block + lowest_bit(mask);
            if (q == from || n == MOST_FIELDS) return split_slowly(p, end, line);
            line->field[n++] = (Text){from, (size_t)(q - from)};
            from = q + 1;
            if (*q == ' ' || *q == '\t') continue;
            if (*q == '\r' && from < end && *from == '\n') from++;
            else if (*q != '\n') return split_slowly(p, end, line);
            line->fields = n;
            line->next = from;
            return high && !is_utf8(p, q) ? NOT_UTF8 : FINE;
        }
    }
    return split_slowly(p, end, line);
}

/* ------------------------------------------------------------------ numbers */

static const double TENS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                              1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

#if defined(__SIZEOF_INT128__)
/* digits / 10^places (at most 19) rounded as IEEE 754 asks: a quotient of 63 or 64 bits with a sticky bit. */
static double quotient(u64 digits, int places) {
    u64 ten = 1;
    for (int i = 0; i < places; i++) ten *= 10;
    int up = __builtin_clzll(digits), down = __builtin_clzll(ten);
    unsigned __int128 whole = (unsigned __int128)(digits << up) << 63;
    u64 by = ten << down, q = (u64)(whole / by);
    if ((u64)(whole - (unsigned __int128)q * by)) q |= 1;
    u64 bits = (u64)(1023 - 63 + down - up) << 52; /* the power of two that undoes the shifts */
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return (double)q * scale;
}
#endif

/* What the quick way leaves: long numbers, large exponents, inf. Python's own reader, which needs the lock. */
static int number_slowly(Text text, double *out, PyThreadState **thread) {
    char copy[400];
    if (!text.n || text.n >= sizeof copy || memchr(text.at, '_', text.n)) return 0;
    memcpy(copy, text.at, text.n);
    copy[text.n] = 0;
    PyEval_RestoreThread(*thread);
    char *end;
    *out = PyOS_string_to_double(copy, &end, NULL);
    int whole = !PyErr_Occurred() && end == copy + text.n;
    PyErr_Clear();
    *thread = PyEval_SaveThread();
    return whole && *out == *out;
}

/* A decimal number, rounded as Python rounds it. */
static int number(Text text, double *out, PyThreadState **thread) {
    const byte *p = text.at, *end = p + text.n;
    int minus = *p == '-', dot = 0, any = 0, places = 0;
    u64 digits = 0;
    for (p += minus; p < end; p++) {
        u32 digit = (u32)*p - '0';
        if (digit <= 9) {
            if (digits >= 1000000000000000000ULL) return number_slowly(text, out, thread);
            digits = digits * 10 + digit;
            places += dot;
            any = 1;
        } else if (*p == '.' && !dot) dot = 1;
        else break;
    }
    if (any && end - p >= 2 && end - p <= 4 && (*p == 'e' || *p == 'E')) {
        int down = *++p == '-', power = 0;
        if (down || *p == '+') p++;
        if (p == end) return 0;
        for (; p < end && *p >= '0' && *p <= '9'; p++) power = power * 10 + (*p - '0');
        places += down ? power : -power;
    }
    if (!any || p < end) return number_slowly(text, out, thread);
    double x;
    if (digits <= 1ULL << 53 && places >= 0 && places <= 22) x = (double)digits / TENS[places]; /* both exact */
    else if (digits <= 1ULL << 53 && places < 0 && places >= -22) x = (double)digits * TENS[-places];
#if defined(__SIZEOF_INT128__)
    else if (places >= 0 && places <= 19) x = quotient(digits, places);
#endif
    else return number_slowly(text, out, thread);
    *out = minus ? -x : x;
    return 1;
}

/* ------------------------------------------------------------------ topics */

typedef struct {
    Vec names, ends; /* all names in a row, and where each ends (i64) */
    u32 *map;        /* number + 1 by hash, 0 where there is none */
    size_t mask;
    u64 seed;
} Topics;

static size_t topic_slot(const Topics *t, Text name) {
    const int64_t *ends = t->ends.at;
    size_t at = (size_t)hash_of(name.at, name.n, t->seed) & t->mask;
    for (; t->map[at]; at = (at + 1) & t->mask) {
        u32 number = t->map[at] - 1;
        int64_t from = number ? ends[number - 1] : 0;
        if ((size_t)(ends[number] - from) == name.n && !memcmp((byte *)t->names.at + from, name.at, name.n)) break;
    }
    return at;
}

static int64_t topic_number(const Topics *t, Text name) { return (int64_t)t->map[topic_slot(t, name)] - 1; }

static int topics_widen(Topics *t) {
    size_t size = t->map ? 2 * (t->mask + 1) : 256;
    u32 *map = calloc(size, sizeof *map);
    if (!map) return 0;
    free(t->map);
    t->map = map;
    t->mask = size - 1;
    const int64_t *ends = t->ends.at;
    for (size_t number = 0; number < t->ends.n; number++) {
        int64_t from = number ? ends[number - 1] : 0;
        Text name = {(byte *)t->names.at + from, (size_t)(ends[number] - from)};
        size_t at = (size_t)hash_of(name.at, name.n, t->seed) & t->mask;
        while (map[at]) at = (at + 1) & t->mask; /* names differ */
        map[at] = (u32)number + 1;
    }
    return 1;
}

/* The number of a name, which is added where it is new; −1 where memory is out. */
static int64_t topic_added(Topics *t, Text name) {
    if ((!t->map || 2 * t->ends.n > t->mask) && !topics_widen(t)) return -1;
    size_t at = topic_slot(t, name);
    if (!t->map[at]) {
        byte *copy = more(&t->names, name.n, 1);
        int64_t *end = more(&t->ends, 1, sizeof *end);
        if (!copy || !end || t->ends.n >= UINT32_MAX - 1) return -1;
        memcpy(copy, name.at, name.n);
        t->names.n += name.n;
        *end = (int64_t)t->names.n;
        t->map[at] = (u32)++t->ends.n;
    }
    return (int64_t)t->map[at] - 1;
}

static void topics_free(Topics *t) {
    free(t->names.at);
    free(t->ends.at);
    free(t->map);
}

/* ------------------------------------------------------------------ judged documents */

typedef struct {
    u32 check, item; /* 32 bits of the hash, and the row of the gains table + 1, 0 where there is none */
} Slot;

typedef struct {
    Topics topics;
    Py_buffer docs, ends; /* the ids in a row, and where each ends (i64) */
    Slot *slots;
    u64 *first; /* of each topic: its first slot; a topic's slots are a table of their own */
} Index;

static Text judged_id(const Index *index, u32 item) {
    const int64_t *ends = index->ends.buf;
    int64_t from = item ? ends[item - 1] : 0;
    return (Text){(const byte *)index->docs.buf + from, (size_t)(ends[item] - from)};
}

static const Slot *slot_of(const Index *index, u32 topic, u64 hash) {
    u64 first = index->first[topic];
    return index->slots + first + ((hash >> 32) * (index->first[topic + 1] - first) >> 32);
}

static int same_text(Text a, Text b) { return a.n == b.n && !memcmp(a.at, b.at, a.n); }

/* The slot that holds this document, or the empty one where it would be; every table has an empty slot. */
static Slot *slot_for(const Index *index, u32 topic, u64 hash, Text doc) {
    Slot *slot = (Slot *)slot_of(index, topic, hash), *end = index->slots + index->first[topic + 1];
    while (slot->item && (slot->check != (u32)hash || !same_text(judged_id(index, slot->item - 1), doc)))
        if (++slot == end) slot = index->slots + index->first[topic];
    return slot;
}

/* FINE, REPEATED with the row in *wrong, or what else prevents it. */
static int index_fill(Index *index, const int64_t *topics, size_t n, size_t *wrong) {
    size_t count = index->topics.ends.n;
    if (n >= UINT32_MAX) return TOO_LARGE;
    if (!(index->first = calloc(count + 1, sizeof *index->first))) return NO_MEMORY;
    for (size_t i = 0; i < n; i++) index->first[topics[i] + 1]++;
    for (size_t t = 0; t < count; t++) {
        u64 size = index->first[t + 1];
        index->first[t + 1] = index->first[t] + size + size / 2 + 1;
    }
    if (index->first[count] >= UINT32_MAX) return TOO_LARGE;
    if (!(index->slots = calloc((size_t)index->first[count] + 1, sizeof *index->slots))) return NO_MEMORY;
    for (size_t i = 0; i < n; i++) {
        Text doc = judged_id(index, (u32)i);
        u64 hash = hash_of(doc.at, doc.n, index->topics.seed);
        Slot *slot = slot_for(index, (u32)topics[i], hash, doc);
        *wrong = i;
        if (slot->item) return REPEATED;
        *slot = (Slot){(u32)hash, (u32)i + 1};
    }
    return FINE;
}

/* ------------------------------------------------------------------ ranking */

typedef struct {
    Text id;
    u64 hash, key; /* smaller keys rank first */
    u32 topic, item; /* item: row of the gains table + 1, 0 where it is unjudged */
} Doc;

typedef struct {
    u32 row, rank, item, first, size; /* first rank and size of the tie it stands in */
} Found;

typedef struct {
    const Index *index;
    int flags;
    Vec docs, spare, seen;       /* of the topic at hand: Doc, Doc, u32 */
    Vec topics, found, unknown;  /* results: u32 pairs, Found, u64 pairs of place and length */
    u64 rows, junk;              /* lines; those with more than six fields */
    Text tag, other;             /* the first line's tag, and the first that differs */
    const byte *wrong;
} Ranking;

static u64 key_of(double x, int flags) {
    if (flags & BY_RANK) x = -x;
    else if (flags & SINGLE) x = (double)(float)x;
    x += 0.0; /* −0 ties with 0 */
    u64 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? bits : ~(bits | 1ULL << 63);
}

/* By key, then by id descending, byte by byte. */
static int ranks_before(const Doc *a, const Doc *b) {
    if (a->key != b->key) return a->key < b->key;
    int order = memcmp(a->id.at, b->id.at, a->id.n < b->id.n ? a->id.n : b->id.n);
    return order ? order > 0 : a->id.n > b->id.n;
}

static void sort_docs(Doc *docs, Doc *spare, size_t n) {
    if (n <= 8) {
        for (size_t i = 1; i < n; i++) {
            Doc doc = docs[i];
            size_t k = i;
            for (; k && ranks_before(&doc, &docs[k - 1]); k--) docs[k] = docs[k - 1];
            docs[k] = doc;
        }
        return;
    }
    size_t half = n / 2, a = 0, b = half;
    sort_docs(docs, spare, half);
    sort_docs(docs + half, spare, n - half);
    if (ranks_before(&docs[half - 1], &docs[half])) return;
    memcpy(spare, docs, half * sizeof *docs);
    for (size_t to = 0; a < half; to++) docs[to] = b < n && ranks_before(&docs[b], &spare[a]) ? docs[b++] : spare[a++];
}

/* Every document of a topic once: a table of places + 1 by hash. */
static int find_repeat(Ranking *r, const Doc *docs, size_t n) {
    size_t size = 64;
    while (size < 2 * n) size *= 2;
    r->seen.n = 0;
    u32 *seen = more(&r->seen, size, sizeof *seen);
    if (!seen) return NO_MEMORY;
    memset(seen, 0, size * sizeof *seen);
    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t)docs[i].hash & (size - 1);
        for (; seen[at]; at = (at + 1) & (size - 1)) {
            const Doc *other = &docs[seen[at] - 1];
            if (other->hash == docs[i].hash && same_text(other->id, docs[i].id)) {
                r->wrong = docs[i].id.at;
                return REPEATED;
            }
        }
        seen[at] = (u32)i + 1;
    }
    return FINE;
}

/* Fill in the items; how many documents are judged. Three rounds, each fetching what the next one looks at: a run's
 * documents are judged here and there, so that nearly every look would have to wait for memory. */
static size_t find_judged(const Index *index, Doc *docs, size_t n, u32 topic) {
    const Slot *first = index->slots + index->first[topic], *end = index->slots + index->first[topic + 1];
    size_t judged = 0;
    for (size_t i = 0; i < n; i++) {
        const Slot *slot = slot_of(index, topic, docs[i].hash);
        while (slot->item && slot->check != (u32)docs[i].hash)
            if (++slot == end) slot = first;
        docs[i].item = slot->item;
        PREFETCH((const int64_t *)index->ends.buf + slot->item);
    }
    for (size_t i = 0; i < n; i++)
        if (docs[i].item) PREFETCH(judged_id(index, docs[i].item - 1).at);
    for (size_t i = 0; i < n; i++) {
        if (!docs[i].item) continue;
        if (!same_text(judged_id(index, docs[i].item - 1), docs[i].id))
            docs[i].item = slot_for(index, topic, docs[i].hash, docs[i].id)->item;
        judged += docs[i].item > 0;
    }
    return judged;
}

/* The documents of one topic are complete: rank them and note the judged ones. */
static int finish_topic(Ranking *r, Doc *docs, size_t n, u32 topic) {
    if (n >= UINT32_MAX / 2) return TOO_LARGE;
    r->spare.n = 0;
    Doc *spare = more(&r->spare, n, sizeof *spare);
    u32 *pair = more(&r->topics, 2, sizeof *pair);
    if (!spare || !pair) return NO_MEMORY;
    int kind = find_repeat(r, docs, n), rises = 0;
    if (kind != FINE) return kind;
    size_t judged = find_judged(r->index, docs, n, topic);
    for (size_t i = 1; i < n; i++) rises |= docs[i].key < docs[i - 1].key;
    Found *found = more(&r->found, judged, sizeof *found);
    if (!found) return NO_MEMORY;
    if (rises) sort_docs(docs, spare, n);
    for (size_t i = 0, end; i < n; i = end) {
        int matters = 0;
        for (end = i; end < n && docs[end].key == docs[i].key; end++) matters |= docs[end].item > 0;
        if (!matters) continue;
        if (end - i > 1 && !rises) sort_docs(docs + i, spare, end - i);
        for (size_t k = i; k < end; k++)
            if (docs[k].item)
                *found++ = (Found){(u32)(r->topics.n / 2), (u32)k, docs[k].item - 1, (u32)i, (u32)(end - i)};
    }
    r->found.n += judged;
    pair[0] = topic;
    pair[1] = (u32)n;
    r->topics.n += 2;
    return FINE;
}

/* Topics that are not together in the file: bring each topic's documents together, in the order they came. */
static int finish_gathered(Ranking *r) {
    size_t count = r->index->topics.ends.n, n = r->docs.n, from = 0;
    const Doc *docs = r->docs.at;
    Doc *sorted = malloc((n + 1) * sizeof *sorted);
    size_t *at = calloc(count + 1, sizeof *at);
    int kind = sorted && at ? FINE : NO_MEMORY;
    if (kind == FINE) {
        for (size_t i = 0; i < n; i++) at[docs[i].topic + 1]++;
        for (size_t t = 0; t < count; t++) at[t + 1] += at[t];
        for (size_t i = 0; i < n; i++) sorted[at[docs[i].topic]++] = docs[i];
        for (size_t t = 0; t < count && kind == FINE; from = at[t++])
            if (at[t] > from) kind = finish_topic(r, sorted + from, at[t] - from, (u32)t);
    }
    free(sorted);
    free(at);
    return kind;
}

static void note_tag(Ranking *r, const Line *line) {
    if (line->fields < MOST_FIELDS) return;
    Text tag = line->field[5];
    r->junk += line->fields > MOST_FIELDS;
    if (!r->rows) r->tag = tag;
    else if (r->tag.n && !r->other.n && !same_text(tag, r->tag)) r->other = tag;
}

/* A run's next topic begins: its number, or −1 for one without judgments, which is noted. */
static int begin_topic(Ranking *r, const byte *base, Text name, byte *met, int64_t *topic) {
    *topic = topic_number(&r->index->topics, name);
    if (*topic < 0) {
        u64 *place = more(&r->unknown, 2, sizeof *place);
        if (!place) return NO_MEMORY;
        place[0] = (u64)(name.at - base);
        place[1] = name.n;
        r->unknown.n += 2;
    } else {
        if (met[*topic] && !(r->flags & GATHER)) return SCATTERED;
        met[*topic] = 1;
    }
    return FINE;
}

static int rank_lines(Ranking *r, const byte *base, size_t size, byte *met, PyThreadState **thread) {
    const byte *p = base, *end = base + size;
    Text name = {NULL, 0};
    int64_t topic = -1;
    int kind;
    for (Line line; p < end; p = line.next) {
        r->wrong = p;
        if ((kind = split(p, end, &line)) != FINE) return kind;
        if (!line.fields) continue;
        if (line.fields < MOST_FIELDS - 1) return FIELDS;
        if (!name.at || !same_text(name, line.field[0])) {
            if (topic >= 0 && !(r->flags & GATHER)) {
                if ((kind = finish_topic(r, r->docs.at, r->docs.n, (u32)topic)) != FINE) return kind;
                r->docs.n = 0;
            }
            name = line.field[0];
            if ((kind = begin_topic(r, base, name, met, &topic)) != FINE) return kind;
        }
        double x;
        if (!number(line.field[4], &x, thread)) return NUMBER;
        if (r->flags & BY_RANK && !number(line.field[3], &x, thread)) return NUMBER;
        note_tag(r, &line);
        r->rows++;
        if (topic < 0) continue;
        Doc *doc = more(&r->docs, 1, sizeof *doc);
        if (!doc) return NO_MEMORY;
        Text id = line.field[2];
        *doc = (Doc){id, hash_of(id.at, id.n, r->index->topics.seed), key_of(x, r->flags), (u32)topic, 0};
        PREFETCH(slot_of(r->index, (u32)topic, doc->hash));
        r->docs.n++;
    }
    if (r->flags & GATHER) return finish_gathered(r);
    return topic < 0 ? FINE : finish_topic(r, r->docs.at, r->docs.n, (u32)topic);
}

/* ------------------------------------------------------------------ Python */

static PyObject *bytes_of(const void *at, size_t n, size_t width) {
    return PyBytes_FromStringAndSize(at, (Py_ssize_t)(n * width));
}

static PyObject *turned_down(int kind, size_t offset) {
    return kind == NO_MEMORY ? PyErr_NoMemory() : Py_BuildValue("(in)", kind, (Py_ssize_t)offset);
}

static void index_free(Index *index) {
    topics_free(&index->topics);
    PyBuffer_Release(&index->docs);
    PyBuffer_Release(&index->ends);
    free(index->slots);
    free(index->first);
    free(index);
}

static void index_drop(PyObject *capsule) { index_free(PyCapsule_GetPointer(capsule, "judgewell.index")); }

/* Offsets that rise to `size`, one for each text. */
static int are_ends(const Py_buffer *ends, size_t size) {
    const int64_t *at = ends->buf;
    size_t n = (size_t)ends->len / 8;
    if (ends->len % 8 || (n ? at[n - 1] != (int64_t)size : size != 0)) return 0;
    for (size_t i = 0; i < n; i++)
        if (at[i] < (i ? at[i - 1] : 0)) return 0;
    return 1;
}

static int add_names(Topics *topics, const Py_buffer *names, const Py_buffer *ends) {
    const int64_t *at = ends->buf;
    for (size_t i = 0; i < (size_t)ends->len / 8; i++) {
        int64_t from = i ? at[i - 1] : 0, number;
        number = topic_added(topics, (Text){(const byte *)names->buf + from, (size_t)(at[i] - from)});
        if (number != (int64_t)i) return number < 0 ? NO_MEMORY : REPEATED;
    }
    return topics->map || topics_widen(topics) ? FINE : NO_MEMORY;
}

static PyObject *py_index(PyObject *self, PyObject *args) {
    (void)self;
    Py_buffer names, name_ends, topics;
    Index *index = calloc(1, sizeof *index);
    unsigned long long seed;
    if (!index) return PyErr_NoMemory();
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*K", &names, &name_ends, &topics, &index->docs, &index->ends, &seed)) {
        free(index);
        return NULL;
    }
    index->topics.seed = seed;
    size_t n = (size_t)topics.len / 8, count = (size_t)name_ends.len / 8, wrong = 0;
    const int64_t *number = topics.buf;
    int sound = are_ends(&name_ends, (size_t)names.len) && are_ends(&index->ends, (size_t)index->docs.len)
                && index->ends.len == topics.len && topics.len % 8 == 0;
    for (size_t i = 0; sound && i < n; i++) sound = number[i] >= 0 && (size_t)number[i] < count;
    int kind = FINE;
    if (sound) {
        Py_BEGIN_ALLOW_THREADS
        kind = add_names(&index->topics, &names, &name_ends);
        if (kind == FINE) kind = index_fill(index, number, n, &wrong);
        Py_END_ALLOW_THREADS
    } else PyErr_SetString(PyExc_ValueError, "the columns of the judged documents do not fit together");
    PyBuffer_Release(&names);
    PyBuffer_Release(&name_ends);
    PyBuffer_Release(&topics);
    PyObject *out = !sound         ? NULL
                    : kind == FINE ? PyCapsule_New(index, "judgewell.index", index_drop)
                                   : turned_down(kind, wrong);
    if (!out || kind != FINE) index_free(index);
    return out;
}

static PyObject *py_rank(PyObject *self, PyObject *args) {
    (void)self;
    Py_buffer data;
    PyObject *capsule, *out = NULL;
    Ranking r = {0};
    if (!PyArg_ParseTuple(args, "y*Oi", &data, &capsule, &r.flags)) return NULL;
    r.index = PyCapsule_GetPointer(capsule, "judgewell.index");
    if (r.index) {
        int kind = NO_MEMORY;
        const byte *base = data.buf;
        PyThreadState *thread = PyEval_SaveThread();
        byte *met = calloc(r.index->topics.ends.n + 1, 1);
        if (met) kind = rank_lines(&r, base, (size_t)data.len, met, &thread);
        free(met);
        PyEval_RestoreThread(thread);
        out = kind != FINE ? turned_down(kind, r.wrong ? (size_t)(r.wrong - base) : 0)
                           : Py_BuildValue("(NNNKKy#y#)", bytes_of(r.topics.at, r.topics.n, sizeof(u32)),
                                           bytes_of(r.found.at, r.found.n, sizeof(Found)),
                                           bytes_of(r.unknown.at, r.unknown.n, sizeof(u64)),
                                           (unsigned long long)r.rows, (unsigned long long)r.junk,
                                           (const char *)r.tag.at, (Py_ssize_t)r.tag.n, (const char *)r.other.at,
                                           (Py_ssize_t)r.other.n);
    }
    Vec *all[] = {&r.docs, &r.spare, &r.seen, &r.topics, &r.found, &r.unknown};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]->at);
    PyBuffer_Release(&data);
    return out;
}

typedef struct {
    Topics topics;
    Vec number, gain, docs, ends; /* i64, double, bytes, i64 */
    const byte *wrong;
} Qrels;

static int read_qrels(Qrels *q, const byte *p, const byte *end, PyThreadState **thread) {
    int kind;
    for (Line line; p < end; p = line.next) {
        q->wrong = p;
        if ((kind = split(p, end, &line)) != FINE) return kind;
        if (!line.fields) continue;
        if (line.fields != 4) return FIELDS;
        Text id = line.field[2];
        int64_t topic = topic_added(&q->topics, line.field[0]), *number_at = more(&q->number, 1, 8);
        double *gain = more(&q->gain, 1, 8);
        byte *copy = more(&q->docs, id.n, 1);
        int64_t *ends = more(&q->ends, 1, 8);
        if (topic < 0 || !number_at || !gain || !copy || !ends) return NO_MEMORY;
        if (!number(line.field[3], gain, thread)) return NUMBER;
        memcpy(copy, id.at, id.n);
        q->docs.n += id.n;
        *number_at = topic;
        *ends = (int64_t)q->docs.n;
        q->number.n = q->gain.n = ++q->ends.n;
    }
    return FINE;
}

static PyObject *py_qrels(PyObject *self, PyObject *args) {
    (void)self;
    Py_buffer data;
    if (!PyArg_ParseTuple(args, "y*", &data)) return NULL;
    Qrels q = {0};
    const byte *base = data.buf;
    PyThreadState *thread = PyEval_SaveThread();
    int kind = read_qrels(&q, base, base + data.len, &thread);
    PyEval_RestoreThread(thread);
    PyObject *out = kind != FINE ? turned_down(kind, (size_t)(q.wrong - base))
                                 : Py_BuildValue("(NNNNNN)", bytes_of(q.topics.names.at, q.topics.names.n, 1),
                                                 bytes_of(q.topics.ends.at, q.topics.ends.n, 8),
                                                 bytes_of(q.number.at, q.number.n, 8), bytes_of(q.docs.at, q.docs.n, 1),
                                                 bytes_of(q.ends.at, q.ends.n, 8), bytes_of(q.gain.at, q.gain.n, 8));
    Vec *all[] = {&q.number, &q.gain, &q.docs, &q.ends};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]->at);
    topics_free(&q.topics);
    PyBuffer_Release(&data);
    return out;
}

static PyMethodDef methods[] = {{"qrels", py_qrels, METH_VARARGS, NULL},
                                {"index", py_index, METH_VARARGS, NULL},
                                {"rank", py_rank, METH_VARARGS, NULL},
                                {NULL, NULL, 0, NULL}};
static PyModuleDef_Slot slots[] = {{0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_kernel", NULL, 0, methods, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__kernel(void) { return PyModuleDef_Init(&module); }
