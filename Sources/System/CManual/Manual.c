#include "CManual.h"

// `#embed` is of C23 (clang 19 and newer).
#pragma clang diagnostic ignored "-Wc23-extensions"

static const char installing[] = {
#embed "../../../Docs/manual/installing.md" suffix(, )
    0};

static const char getting_started[] = {
#embed "../../../Docs/manual/getting-started.md" suffix(, )
    0};

static const char reading_a_report[] = {
#embed "../../../Docs/manual/reading-a-report.md" suffix(, )
    0};

static const char troubleshooting[] = {
#embed "../../../Docs/manual/troubleshooting.md" suffix(, )
    0};

static const char exit_codes[] = {
#embed "../../../Docs/manual/exit-codes.md" suffix(, )
    0};

static const char scenario[] = {
#embed "../../../Docs/manual/scenario.md" suffix(, )
    0};

static const char links[] = {
#embed "../../../Docs/manual/links.md" suffix(, )
    0};

static const char faults[] = {
#embed "../../../Docs/manual/faults.md" suffix(, )
    0};

static const char fault_kinds[] = {
#embed "../../../Docs/faults.md" suffix(, )
    0};

static const char objectives[] = {
#embed "../../../Docs/manual/objectives.md" suffix(, )
    0};

static const char metrics[] = {
#embed "../../../Docs/manual/metrics.md" suffix(, )
    0};

static const char migration[] = {
#embed "../../../Docs/manual/migration.md" suffix(, )
    0};

static const char invariants[] = {
#embed "../../../Docs/manual/invariants.md" suffix(, )
    0};

static const char profiles_and_dialects[] = {
#embed "../../../Docs/manual/profiles-and-dialects.md" suffix(, )
    0};

static const char live_and_simulated[] = {
#embed "../../../Docs/manual/live-and-simulated.md" suffix(, )
    0};

static const char control[] = {
#embed "../../../Docs/manual/control.md" suffix(, )
    0};

static const char tracing[] = {
#embed "../../../Docs/manual/tracing.md" suffix(, )
    0};

static const char photo_to_library[] = {
#embed "../../../Docs/manual/photo-to-library.md" suffix(, )
    0};

static const char staging[] = {
#embed "../../../Docs/manual/staging.md" suffix(, )
    0};

static const char ci[] = {
#embed "../../../Docs/manual/ci.md" suffix(, )
    0};

static const char hunting_a_bug[] = {
#embed "../../../Docs/manual/hunting-a-bug.md" suffix(, )
    0};

static const char many_machines[] = {
#embed "../../../Docs/manual/many-machines.md" suffix(, )
    0};

static const char locust[] = {
#embed "../../../Docs/manual/locust.md" suffix(, )
    0};

static const char real_app[] = {
#embed "../../../Docs/real-app.md" suffix(, )
    0};

static const char client_rules[] = {
#embed "../../../Docs/manual/client-rules.md" suffix(, )
    0};

static const char index_page[] = {
#embed "../../../Docs/manual/README.md" suffix(, )
    0};

// In the order of the index.
static const struct shim_manual_page pages[] = {
    {"installing", installing},
    {"getting-started", getting_started},
    {"reading-a-report", reading_a_report},
    {"troubleshooting", troubleshooting},
    {"exit-codes", exit_codes},
    {"scenario", scenario},
    {"links", links},
    {"faults", faults},
    {"fault-kinds", fault_kinds},
    {"objectives", objectives},
    {"metrics", metrics},
    {"invariants", invariants},
    {"profiles-and-dialects", profiles_and_dialects},
    {"live-and-simulated", live_and_simulated},
    {"control", control},
    {"tracing", tracing},
    {"photo-to-library", photo_to_library},
    {"staging", staging},
    {"ci", ci},
    {"migration", migration},
    {"hunting-a-bug", hunting_a_bug},
    {"many-machines", many_machines},
    {"locust", locust},
    {"real-app", real_app},
    {"client-rules", client_rules},
};

const char *shim_manual_index(void) { return index_page; }

size_t shim_manual_count(void) { return sizeof pages / sizeof *pages; }

struct shim_manual_page shim_manual_page(size_t index) { return pages[index]; }
