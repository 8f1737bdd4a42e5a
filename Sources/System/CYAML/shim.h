#pragma once
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* A parser and its current event, behind functions that Swift can call: yaml_event_t is a union. */

typedef struct shim_yaml {
    yaml_parser_t parser;
    yaml_event_t event;
    int has_event;
} shim_yaml;

/* The bytes must be UTF-8 without a byte order mark and outlive the reader. NULL when memory is short. */
static inline shim_yaml *shim_yaml_new(const unsigned char *bytes, size_t count) {
    shim_yaml *yaml = (shim_yaml *)calloc(1, sizeof(shim_yaml));
    if (yaml == NULL) return NULL;
    if (!yaml_parser_initialize(&yaml->parser)) {
        free(yaml);
        return NULL;
    }
    yaml_parser_set_encoding(&yaml->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&yaml->parser, bytes, count);
    return yaml;
}

static inline void shim_yaml_free(shim_yaml *yaml) {
    if (yaml->has_event) yaml_event_delete(&yaml->event);
    yaml_parser_delete(&yaml->parser);
    free(yaml);
}

/* Moves to the next event; 0 when the text is no YAML. */
static inline int shim_yaml_next(shim_yaml *yaml) {
    if (yaml->has_event) yaml_event_delete(&yaml->event);
    yaml->has_event = yaml_parser_parse(&yaml->parser, &yaml->event);
    return yaml->has_event;
}

static inline yaml_event_type_t shim_yaml_type(const shim_yaml *yaml) { return yaml->event.type; }
static inline yaml_mark_t shim_yaml_start(const shim_yaml *yaml) { return yaml->event.start_mark; }
static inline yaml_mark_t shim_yaml_end(const shim_yaml *yaml) { return yaml->event.end_mark; }

/* The text of a scalar, of any style; not terminated. NULL for other events. */
static inline const unsigned char *shim_yaml_scalar(const shim_yaml *yaml, size_t *count) {
    if (yaml->event.type != YAML_SCALAR_EVENT) return NULL;
    *count = yaml->event.data.scalar.length;
    return yaml->event.data.scalar.value;
}

/* The name of the event's anchor, or of what an alias refers to; NULL when there is none. */
static inline const char *shim_yaml_anchor(const shim_yaml *yaml) {
    switch (yaml->event.type) {
    case YAML_ALIAS_EVENT: return (const char *)yaml->event.data.alias.anchor;
    case YAML_SCALAR_EVENT: return (const char *)yaml->event.data.scalar.anchor;
    case YAML_SEQUENCE_START_EVENT: return (const char *)yaml->event.data.sequence_start.anchor;
    case YAML_MAPPING_START_EVENT: return (const char *)yaml->event.data.mapping_start.anchor;
    default: return NULL;
    }
}

/* Whether the event carries a tag. */
static inline int shim_yaml_has_tag(const shim_yaml *yaml) {
    switch (yaml->event.type) {
    case YAML_SCALAR_EVENT: return yaml->event.data.scalar.tag != NULL;
    case YAML_SEQUENCE_START_EVENT: return yaml->event.data.sequence_start.tag != NULL;
    case YAML_MAPPING_START_EVENT: return yaml->event.data.mapping_start.tag != NULL;
    default: return 0;
    }
}

/* After a failure: what is wrong, and where. A reader error has an offset in bytes instead of a mark. */
static inline const char *shim_yaml_problem(const shim_yaml *yaml) { return yaml->parser.problem; }
static inline const char *shim_yaml_context(const shim_yaml *yaml) { return yaml->parser.context; }
static inline yaml_mark_t shim_yaml_context_mark(const shim_yaml *yaml) { return yaml->parser.context_mark; }
static inline yaml_mark_t shim_yaml_problem_mark(const shim_yaml *yaml) { return yaml->parser.problem_mark; }
static inline int shim_yaml_is_reader_error(const shim_yaml *yaml) {
    return yaml->parser.error == YAML_READER_ERROR;
}
static inline size_t shim_yaml_problem_offset(const shim_yaml *yaml) { return yaml->parser.problem_offset; }
