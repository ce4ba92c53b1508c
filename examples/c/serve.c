/* Serves a plug-in to Broccoli as a program: link it with any file that has broccoli_plugin().
 *
 * It speaks both formats of docs/protocol.md, and is stateless: the state travels with every message,
 * as words of eight bytes that are numbers to Broccoli. So the state of the plug-in must consist of
 * doubles. This file needs nothing but C11 and getline().
 */
#define _POSIX_C_SOURCE 200809L
#include "broccoli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESET = 1, STEPS = 2, REPLIES = 129, ERROR = 255 };

static const broccoli_system *sys;
static size_t words; /* of a state */
static int rewards;  /* whether a reward follows the observation of a step */

/* ---- memory that grows, and output ---- */

typedef struct {
    char *bytes;
    size_t length, capacity;
} buffer;

static void room(buffer *b, size_t more)
{
    if (b->length + more > b->capacity) {
        b->capacity = 2 * (b->length + more);
        b->bytes = realloc(b->bytes, b->capacity);
        if (!b->bytes)
            exit(3);
    }
}

static void append(buffer *b, const void *bytes, size_t length)
{
    room(b, length);
    memcpy(b->bytes + b->length, bytes, length);
    b->length += length;
}

static void print(buffer *b, const char *format, ...)
{
    va_list arguments;
    room(b, 512);
    va_start(arguments, format);
    int length = vsnprintf(b->bytes + b->length, 512, format, arguments);
    va_end(arguments);
    b->length += length < 0 ? 0 : length > 511 ? 511 : (size_t)length;
}

static void flush(buffer *b)
{
    fwrite(b->bytes, 1, b->length, stdout);
    fflush(stdout);
    b->length = 0;
}

/* ---- JSON: enough for the messages of the protocol ---- */

static const char *find(const char *line, const char *key)
{
    const char *place = strstr(line, key);
    return place ? place + strlen(key) : NULL;
}

/* Reads numbers of "[1,2,3]" into values; returns how many there are, at most `most`. */
static size_t numbers(const char *text, double *values, size_t most, const char **end)
{
    size_t count = 0;
    if (text && *text == '[')
        for (text++; *text && *text != ']' && count < most; count++) {
            char *next;
            values[count] = strtod(text, &next);
            if (next == text)
                break;
            text = *next == ',' ? next + 1 : next;
        }
    *end = text;
    return count;
}

static void print_numbers(buffer *out, const char *key, const double *values, size_t count)
{
    print(out, "\"%s\":[", key);
    for (size_t i = 0; i < count; i++)
        print(out, i ? ",%.17g" : "%.17g", values[i]);
    print(out, "]");
}

/* Text with the characters that JSON does not allow in it left out. */
static void print_text(buffer *out, const char *text)
{
    append(out, "\"", 1);
    for (; *text; text++)
        if (*text != '"' && *text != '\\' && (unsigned char)*text >= ' ')
            append(out, text, 1);
    append(out, "\"", 1);
}

static const char *explain(int32_t code)
{
    const char *words_of_it = code < 0 && sys->error ? sys->error(code) : NULL;
    return words_of_it ? words_of_it : "the system returned no verdict";
}

/* Writes one reply; returns 0 if the system failed, after writing why in its place. */
static int print_reply(buffer *out, int32_t verdict, int has_reward, const double *observation,
                       const double *state)
{
    static const char *const names[] = {"running", "satisfied", "violated"};
    if (verdict < 0 || verdict > 2) {
        out->length = 0;
        print(out, "{\"error\":");
        print_text(out, explain(verdict));
        print(out, "}");
        return 0;
    }
    print(out, "{");
    print_numbers(out, "observation", observation, sys->observation_count);
    print(out, ",\"verdict\":\"%s\",", names[verdict]);
    if (has_reward)
        print(out, "\"reward\":%.17g,", observation[sys->observation_count]);
    print_numbers(out, "state", state, words);
    print(out, "}");
    return 1;
}

static void serve_json(double *state, double *observation, double *initial)
{
    char *line = NULL;
    size_t capacity = 0;
    buffer out = {0};
    while (getline(&line, &capacity, stdin) > 0) {
        const char *type = find(line, "\"type\":\""), *end;
        if (type && !strncmp(type, "reset\"", 6)) {
            size_t count = numbers(find(line, "\"initial\":"), initial, sys->initial_count, &end);
            memset(state, 0, words * 8);
            if (count != sys->initial_count || *end != ']')
                print(&out, "{\"error\":\"an initial state has %u values\"}", sys->initial_count);
            else
                print_reply(&out, sys->reset(initial, state, observation), 0, observation, state);
        } else if (type && !strncmp(type, "step", 4)) {
            int several = type[4] == 's', ok = 1, first = 1;
            const char *place = line;
            if (several)
                print(&out, "{\"replies\":[");
            while (ok && (place = find(place, "\"action\":"))) {
                unsigned long action = strtoul(place, NULL, 10);
                size_t count = numbers(find(place, "\"state\":"), state, words, &end);
                if (!first)
                    print(&out, ",");
                first = 0;
                if (count != words || (words && *end != ']') || action >= sys->action_count) {
                    out.length = 0;
                    print(&out, "{\"error\":\"no such state or action\"}");
                    ok = 0;
                } else
                    ok = print_reply(&out, sys->step(state, (uint32_t)action, observation), rewards,
                                     observation, state);
            }
            if (several && ok)
                print(&out, "]}");
        } else
            print(&out, "{\"error\":\"not a message that a stateless system understands\"}");
        print(&out, "\n");
        flush(&out);
    }
    free(line);
    free(out.bytes);
}

/* ---- binary: words of eight bytes, little-endian like the machines this is built on ---- */

static int read_all(void *bytes, size_t length) { return fread(bytes, 1, length, stdin) == length; }

static void serve_binary(double *state, double *observation)
{
    buffer in = {0}, out = {0};
    unsigned char header[8];
    while (read_all(header, 8)) {
        uint32_t length;
        memcpy(&length, header, 4);
        in.length = 0;
        room(&in, length + 1);
        if (!read_all(in.bytes, length))
            break;
        size_t step = 8 + 8 * words, count = header[4] == RESET ? 1 : length / step;
        unsigned char kind = REPLIES;
        const char *problem = NULL;
        room(&out, 8);
        out.length = 8;
        if (header[4] == RESET ? length != 8 * sys->initial_count : header[4] != STEPS || length % step)
            problem = "not a message that a stateless system understands";
        for (size_t i = 0; i < count && !problem; i++) {
            int32_t verdict;
            if (header[4] == RESET) {
                memset(state, 0, words * 8);
                verdict = sys->reset((const double *)(void *)in.bytes, state, observation);
            } else {
                uint64_t action;
                memcpy(&action, in.bytes + i * step, 8);
                memcpy(state, in.bytes + i * step + 8, 8 * words);
                verdict = action < sys->action_count ? sys->step(state, (uint32_t)action, observation) : -1;
            }
            if (verdict < 0 || verdict > 2)
                problem = explain(verdict);
            uint64_t word = (uint64_t)verdict;
            append(&out, &word, 8);
            if (rewards) /* that of a reset does not count */
                append(&out, observation + sys->observation_count, 8);
            append(&out, observation, 8 * sys->observation_count);
            append(&out, state, 8 * words);
        }
        if (problem) {
            kind = ERROR;
            out.length = 8;
            append(&out, problem, strlen(problem));
        }
        uint32_t answer = (uint32_t)(out.length - 8);
        memset(out.bytes, 0, 8);
        memcpy(out.bytes, &answer, 4);
        out.bytes[4] = (char)kind;
        flush(&out);
    }
    free(in.bytes);
    free(out.bytes);
}

int main(void)
{
    sys = broccoli_plugin();
    if (!sys || sys->abi != BROCCOLI_ABI || sys->state_size % 8) {
        fprintf(stderr, "the system cannot be served\n");
        return 2;
    }
    words = sys->state_size / 8;
    rewards = (sys->flags & BROCCOLI_REWARDS) != 0;
    char *line = NULL;
    size_t capacity = 0;
    if (getline(&line, &capacity, stdin) <= 0 || !find(line, "\"protocol\":1")) {
        fprintf(stderr, "expected a hello of protocol 1\n");
        return 2;
    }
    int binary = find(line, "\"binary\"") != NULL;
    free(line);

    buffer out = {0};
    print(&out, "{\"type\":\"hello\",\"protocol\":1,\"name\":");
    print_text(&out, sys->name);
    print(&out, ",\"observations\":[");
    for (uint32_t i = 0; i < sys->observation_count; i++) {
        append(&out, ",", i > 0);
        print_text(&out, sys->observation_names[i]);
    }
    print(&out, "],\"actions\":[");
    for (uint32_t i = 0; i < sys->action_count; i++) {
        print(&out, i ? ",{\"name\":" : "{\"name\":");
        print_text(&out, sys->action_names[i]);
        print(&out, ",\"value\":%.17g}", sys->action_values[i]);
    }
    print(&out, "],\"come_back\":\"stateless\",\"state\":%zu,\"initial\":%u,\"verdicts\":true,", words,
          sys->initial_count);
    print(&out, "\"rewards\":%s,\"format\":\"%s\"}\n", rewards ? "true" : "false", binary ? "binary" : "json");
    flush(&out);
    free(out.bytes);

    double *state = calloc(words + 2, 8), *observation = calloc(sys->observation_count + 1, 8);
    double *initial = calloc(sys->initial_count + 1, 8);
    if (!state || !observation || !initial)
        return 3;
    if (binary)
        serve_binary(state, observation);
    else
        serve_json(state, observation, initial);
    free(state);
    free(observation);
    free(initial);
    return 0;
}
