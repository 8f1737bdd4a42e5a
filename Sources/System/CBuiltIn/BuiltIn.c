#include "CBuiltIn.h"

// `#embed` is of C23 (clang 19 and newer).
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char app_lifecycle[] = {
#embed "../../../Scenarios/app-lifecycle.scenario"
};

static const unsigned char backend_degraded[] = {
#embed "../../../Scenarios/backend-degraded.scenario"
};

static const unsigned char backend_trial[] = {
#embed "../../../Scenarios/backend-trial.scenario"
};

static const unsigned char backend_trial_v2[] = {
#embed "../../../Scenarios/backend-trial-v2.scenario"
};

static const unsigned char batch_enrichment[] = {
#embed "../../../Scenarios/batch-enrichment.scenario"
};

static const unsigned char books_app[] = {
#embed "../../../Scenarios/books-app.scenario"
};

static const unsigned char bookshelf_v2[] = {
#embed "../../../Scenarios/bookshelf-v2.scenario"
};

static const unsigned char capacity[] = {
#embed "../../../Scenarios/capacity.scenario"
};

static const unsigned char captured_stream[] = {
#embed "../../../Scenarios/captured-stream.scenario"
};

static const unsigned char crowd[] = {
#embed "../../../Scenarios/crowd.scenario"
};

static const unsigned char csv_import[] = {
#embed "../../../Scenarios/csv-import.scenario"
};

static const unsigned char day[] = {
#embed "../../../Scenarios/day.scenario"
};

static const unsigned char flaky_network[] = {
#embed "../../../Scenarios/flaky-network.scenario"
};

static const unsigned char half_open[] = {
#embed "../../../Scenarios/half-open.scenario"
};

static const unsigned char head_on_flaky_network[] = {
#embed "../../../Scenarios/head-on-flaky-network.scenario"
};

static const unsigned char hostile_stream[] = {
#embed "../../../Scenarios/hostile-stream.scenario"
};

static const unsigned char hour[] = {
#embed "../../../Scenarios/hour.scenario"
};

static const unsigned char lingering_streams[] = {
#embed "../../../Scenarios/lingering-streams.scenario"
};

static const unsigned char long_jobs[] = {
#embed "../../../Scenarios/long-jobs.scenario"
};

static const unsigned char network_drops[] = {
#embed "../../../Scenarios/network-drops.scenario"
};

static const unsigned char open_circuit[] = {
#embed "../../../Scenarios/open-circuit.scenario"
};

static const unsigned char outage[] = {
#embed "../../../Scenarios/outage.scenario"
};

static const unsigned char polling_app[] = {
#embed "../../../Scenarios/polling-app.scenario"
};

static const unsigned char progressive_results[] = {
#embed "../../../Scenarios/progressive-results.scenario"
};

static const unsigned char quiet_streams[] = {
#embed "../../../Scenarios/quiet-streams.scenario"
};

static const unsigned char raised_base[] = {
#embed "../../../Scenarios/raised-base.scenario"
};

static const unsigned char rate_limited[] = {
#embed "../../../Scenarios/rate-limited.scenario"
};

static const unsigned char readings_under_kill[] = {
#embed "../../../Scenarios/readings-under-kill.scenario"
};

static const unsigned char reordered_results[] = {
#embed "../../../Scenarios/reordered-results.scenario"
};

static const unsigned char hybrid_low_confidence[] = {
#embed "../../../Scenarios/hybrid-low-confidence.scenario"
};

static const unsigned char text_enrichment[] = {
#embed "../../../Scenarios/text-enrichment.scenario"
};

static const unsigned char review_under_kill[] = {
#embed "../../../Scenarios/review-under-kill.scenario"
};

static const unsigned char rollout_good[] = {
#embed "../../../Scenarios/rollout-good.scenario"
};

static const unsigned char rollout_rolled_back[] = {
#embed "../../../Scenarios/rollout-rolled-back.scenario"
};

static const unsigned char seed_3_slo[] = {
#embed "../../../Scenarios/seed-3-slo.scenario"
};

static const unsigned char segmented_shelves[] = {
#embed "../../../Scenarios/segmented-shelves.scenario"
};

static const unsigned char several_photos[] = {
#embed "../../../Scenarios/several-photos.scenario"
};

static const unsigned char slow_uplink[] = {
#embed "../../../Scenarios/slow-uplink.scenario"
};

static const unsigned char sse_against_websocket[] = {
#embed "../../../Scenarios/sse-against-websocket.scenario"
};

static const unsigned char staging_smoke[] = {
#embed "../../../Scenarios/staging-smoke.scenario"
};

static const unsigned char status_polling[] = {
#embed "../../../Scenarios/status-polling.scenario"
};

static const unsigned char steady_load[] = {
#embed "../../../Scenarios/steady-load.scenario"
};

static const unsigned char stream_outage[] = {
#embed "../../../Scenarios/stream-outage.scenario"
};

static const unsigned char stripped_books[] = {
#embed "../../../Scenarios/stripped-books.scenario"
};

static const unsigned char stubborn_jobs[] = {
#embed "../../../Scenarios/stubborn-jobs.scenario"
};

static const unsigned char sudden_kills[] = {
#embed "../../../Scenarios/sudden-kills.scenario"
};

static const unsigned char token_expiry[] = {
#embed "../../../Scenarios/token-expiry.scenario"
};

static const unsigned char torn_writes[] = {
#embed "../../../Scenarios/torn-writes.scenario"
};

static const unsigned char train_tunnel[] = {
#embed "../../../Scenarios/train-tunnel.scenario"
};

static const unsigned char v2_under_fire[] = {
#embed "../../../Scenarios/v2-under-fire.scenario"
};
static const unsigned char websocket_tokens[] = {
#embed "../../../Scenarios/websocket-tokens.scenario"
};
static const unsigned char websocket_under_fire[] = {
#embed "../../../Scenarios/websocket-under-fire.scenario"
};

static const unsigned char gap_1[] = {
#embed "../../../Scenarios/gaps/gap-1.scenario"
};

static const unsigned char gap_10[] = {
#embed "../../../Scenarios/gaps/gap-10.scenario"
};

static const unsigned char gap_11[] = {
#embed "../../../Scenarios/gaps/gap-11.scenario"
};

static const unsigned char gap_12[] = {
#embed "../../../Scenarios/gaps/gap-12.scenario"
};

static const unsigned char gap_13[] = {
#embed "../../../Scenarios/gaps/gap-13.scenario"
};

static const unsigned char gap_14[] = {
#embed "../../../Scenarios/gaps/gap-14.scenario"
};

static const unsigned char gap_2[] = {
#embed "../../../Scenarios/gaps/gap-2.scenario"
};

static const unsigned char gap_3[] = {
#embed "../../../Scenarios/gaps/gap-3.scenario"
};

static const unsigned char gap_4[] = {
#embed "../../../Scenarios/gaps/gap-4.scenario"
};

static const unsigned char gap_5[] = {
#embed "../../../Scenarios/gaps/gap-5.scenario"
};

static const unsigned char gap_6[] = {
#embed "../../../Scenarios/gaps/gap-6.scenario"
};

static const unsigned char gap_7[] = {
#embed "../../../Scenarios/gaps/gap-7.scenario"
};

static const unsigned char gap_8[] = {
#embed "../../../Scenarios/gaps/gap-8.scenario"
};

static const unsigned char gap_9[] = {
#embed "../../../Scenarios/gaps/gap-9.scenario"
};

static const unsigned char inconsistency_1[] = {
#embed "../../../Scenarios/gaps/inconsistency-1.scenario"
};

static const unsigned char inconsistency_2[] = {
#embed "../../../Scenarios/gaps/inconsistency-2.scenario"
};

static const unsigned char inconsistency_3[] = {
#embed "../../../Scenarios/gaps/inconsistency-3.scenario"
};

static const unsigned char inconsistency_4[] = {
#embed "../../../Scenarios/gaps/inconsistency-4.scenario"
};

static const unsigned char inconsistency_5[] = {
#embed "../../../Scenarios/gaps/inconsistency-5.scenario"
};

static const unsigned char quirk_1[] = {
#embed "../../../Scenarios/quirks/quirk-1.scenario"
};

static const unsigned char quirk_10[] = {
#embed "../../../Scenarios/quirks/quirk-10.scenario"
};

static const unsigned char quirk_11[] = {
#embed "../../../Scenarios/quirks/quirk-11.scenario"
};

static const unsigned char quirk_12[] = {
#embed "../../../Scenarios/quirks/quirk-12.scenario"
};

static const unsigned char quirk_13[] = {
#embed "../../../Scenarios/quirks/quirk-13.scenario"
};

static const unsigned char quirk_14[] = {
#embed "../../../Scenarios/quirks/quirk-14.scenario"
};

static const unsigned char quirk_15[] = {
#embed "../../../Scenarios/quirks/quirk-15.scenario"
};

static const unsigned char quirk_16[] = {
#embed "../../../Scenarios/quirks/quirk-16.scenario"
};

static const unsigned char quirk_17[] = {
#embed "../../../Scenarios/quirks/quirk-17.scenario"
};

static const unsigned char quirk_19[] = {
#embed "../../../Scenarios/quirks/quirk-19.scenario"
};

static const unsigned char quirk_2[] = {
#embed "../../../Scenarios/quirks/quirk-2.scenario"
};

static const unsigned char quirk_20[] = {
#embed "../../../Scenarios/quirks/quirk-20.scenario"
};

static const unsigned char quirk_22[] = {
#embed "../../../Scenarios/quirks/quirk-22.scenario"
};

static const unsigned char quirk_23[] = {
#embed "../../../Scenarios/quirks/quirk-23.scenario"
};

static const unsigned char quirk_24[] = {
#embed "../../../Scenarios/quirks/quirk-24.scenario"
};

static const unsigned char quirk_4[] = {
#embed "../../../Scenarios/quirks/quirk-4.scenario"
};

static const unsigned char quirk_5[] = {
#embed "../../../Scenarios/quirks/quirk-5.scenario"
};

static const unsigned char quirk_6[] = {
#embed "../../../Scenarios/quirks/quirk-6.scenario"
};

static const unsigned char quirk_7[] = {
#embed "../../../Scenarios/quirks/quirk-7.scenario"
};

static const unsigned char quirk_8[] = {
#embed "../../../Scenarios/quirks/quirk-8.scenario"
};

static const unsigned char quirk_9[] = {
#embed "../../../Scenarios/quirks/quirk-9.scenario"
};

static const unsigned char live_2026_02[] = {
#embed "../../../Scenarios/captures/live-2026-02.sse"
};

static const unsigned char shelf_1_landscape_normal[] = {
#embed "../../../Images/shelves/shelf-1-landscape-normal.jpg"
};

static const unsigned char shelf_2_portrait_normal[] = {
#embed "../../../Images/shelves/shelf-2-portrait-normal.jpg"
};

static const unsigned char shelf_3_landscape_dark[] = {
#embed "../../../Images/shelves/shelf-3-landscape-dark.jpg"
};

static const unsigned char shelf_4_landscape_bright[] = {
#embed "../../../Images/shelves/shelf-4-landscape-bright.jpg"
};

static const unsigned char shelf_5_tall_hazy[] = {
#embed "../../../Images/shelves/shelf-5-tall-hazy.jpg"
};

// By kind and then by name. A test compares this list with the folders.
static const struct shim_built_in_file files[] = {
    {"app-lifecycle.scenario", app_lifecycle, sizeof app_lifecycle},
    {"backend-degraded.scenario", backend_degraded, sizeof backend_degraded},
    {"backend-trial-v2.scenario", backend_trial_v2, sizeof backend_trial_v2},
    {"backend-trial.scenario", backend_trial, sizeof backend_trial},
    {"batch-enrichment.scenario", batch_enrichment, sizeof batch_enrichment},
    {"books-app.scenario", books_app, sizeof books_app},
    {"bookshelf-v2.scenario", bookshelf_v2, sizeof bookshelf_v2},
    {"capacity.scenario", capacity, sizeof capacity},
    {"captured-stream.scenario", captured_stream, sizeof captured_stream},
    {"crowd.scenario", crowd, sizeof crowd},
    {"csv-import.scenario", csv_import, sizeof csv_import},
    {"day.scenario", day, sizeof day},
    {"flaky-network.scenario", flaky_network, sizeof flaky_network},
    {"half-open.scenario", half_open, sizeof half_open},
    {"head-on-flaky-network.scenario", head_on_flaky_network, sizeof head_on_flaky_network},
    {"hostile-stream.scenario", hostile_stream, sizeof hostile_stream},
    {"hour.scenario", hour, sizeof hour},
    {"hybrid-low-confidence.scenario", hybrid_low_confidence, sizeof hybrid_low_confidence},
    {"lingering-streams.scenario", lingering_streams, sizeof lingering_streams},
    {"long-jobs.scenario", long_jobs, sizeof long_jobs},
    {"network-drops.scenario", network_drops, sizeof network_drops},
    {"open-circuit.scenario", open_circuit, sizeof open_circuit},
    {"outage.scenario", outage, sizeof outage},
    {"polling-app.scenario", polling_app, sizeof polling_app},
    {"progressive-results.scenario", progressive_results, sizeof progressive_results},
    {"quiet-streams.scenario", quiet_streams, sizeof quiet_streams},
    {"raised-base.scenario", raised_base, sizeof raised_base},
    {"rate-limited.scenario", rate_limited, sizeof rate_limited},
    {"readings-under-kill.scenario", readings_under_kill, sizeof readings_under_kill},
    {"reordered-results.scenario", reordered_results, sizeof reordered_results},
    {"review-under-kill.scenario", review_under_kill, sizeof review_under_kill},
    {"rollout-good.scenario", rollout_good, sizeof rollout_good},
    {"rollout-rolled-back.scenario", rollout_rolled_back, sizeof rollout_rolled_back},
    {"seed-3-slo.scenario", seed_3_slo, sizeof seed_3_slo},
    {"segmented-shelves.scenario", segmented_shelves, sizeof segmented_shelves},
    {"several-photos.scenario", several_photos, sizeof several_photos},
    {"slow-uplink.scenario", slow_uplink, sizeof slow_uplink},
    {"sse-against-websocket.scenario", sse_against_websocket, sizeof sse_against_websocket},
    {"staging-smoke.scenario", staging_smoke, sizeof staging_smoke},
    {"status-polling.scenario", status_polling, sizeof status_polling},
    {"steady-load.scenario", steady_load, sizeof steady_load},
    {"stream-outage.scenario", stream_outage, sizeof stream_outage},
    {"stripped-books.scenario", stripped_books, sizeof stripped_books},
    {"stubborn-jobs.scenario", stubborn_jobs, sizeof stubborn_jobs},
    {"sudden-kills.scenario", sudden_kills, sizeof sudden_kills},
    {"text-enrichment.scenario", text_enrichment, sizeof text_enrichment},
    {"token-expiry.scenario", token_expiry, sizeof token_expiry},
    {"torn-writes.scenario", torn_writes, sizeof torn_writes},
    {"train-tunnel.scenario", train_tunnel, sizeof train_tunnel},
    {"v2-under-fire.scenario", v2_under_fire, sizeof v2_under_fire},
    {"websocket-tokens.scenario", websocket_tokens, sizeof websocket_tokens},
    {"websocket-under-fire.scenario", websocket_under_fire, sizeof websocket_under_fire},
    {"gaps/gap-1.scenario", gap_1, sizeof gap_1},
    {"gaps/gap-10.scenario", gap_10, sizeof gap_10},
    {"gaps/gap-11.scenario", gap_11, sizeof gap_11},
    {"gaps/gap-12.scenario", gap_12, sizeof gap_12},
    {"gaps/gap-13.scenario", gap_13, sizeof gap_13},
    {"gaps/gap-14.scenario", gap_14, sizeof gap_14},
    {"gaps/gap-2.scenario", gap_2, sizeof gap_2},
    {"gaps/gap-3.scenario", gap_3, sizeof gap_3},
    {"gaps/gap-4.scenario", gap_4, sizeof gap_4},
    {"gaps/gap-5.scenario", gap_5, sizeof gap_5},
    {"gaps/gap-6.scenario", gap_6, sizeof gap_6},
    {"gaps/gap-7.scenario", gap_7, sizeof gap_7},
    {"gaps/gap-8.scenario", gap_8, sizeof gap_8},
    {"gaps/gap-9.scenario", gap_9, sizeof gap_9},
    {"gaps/inconsistency-1.scenario", inconsistency_1, sizeof inconsistency_1},
    {"gaps/inconsistency-2.scenario", inconsistency_2, sizeof inconsistency_2},
    {"gaps/inconsistency-3.scenario", inconsistency_3, sizeof inconsistency_3},
    {"gaps/inconsistency-4.scenario", inconsistency_4, sizeof inconsistency_4},
    {"gaps/inconsistency-5.scenario", inconsistency_5, sizeof inconsistency_5},
    {"quirks/quirk-1.scenario", quirk_1, sizeof quirk_1},
    {"quirks/quirk-10.scenario", quirk_10, sizeof quirk_10},
    {"quirks/quirk-11.scenario", quirk_11, sizeof quirk_11},
    {"quirks/quirk-12.scenario", quirk_12, sizeof quirk_12},
    {"quirks/quirk-13.scenario", quirk_13, sizeof quirk_13},
    {"quirks/quirk-14.scenario", quirk_14, sizeof quirk_14},
    {"quirks/quirk-15.scenario", quirk_15, sizeof quirk_15},
    {"quirks/quirk-16.scenario", quirk_16, sizeof quirk_16},
    {"quirks/quirk-17.scenario", quirk_17, sizeof quirk_17},
    {"quirks/quirk-19.scenario", quirk_19, sizeof quirk_19},
    {"quirks/quirk-2.scenario", quirk_2, sizeof quirk_2},
    {"quirks/quirk-20.scenario", quirk_20, sizeof quirk_20},
    {"quirks/quirk-22.scenario", quirk_22, sizeof quirk_22},
    {"quirks/quirk-23.scenario", quirk_23, sizeof quirk_23},
    {"quirks/quirk-24.scenario", quirk_24, sizeof quirk_24},
    {"quirks/quirk-4.scenario", quirk_4, sizeof quirk_4},
    {"quirks/quirk-5.scenario", quirk_5, sizeof quirk_5},
    {"quirks/quirk-6.scenario", quirk_6, sizeof quirk_6},
    {"quirks/quirk-7.scenario", quirk_7, sizeof quirk_7},
    {"quirks/quirk-8.scenario", quirk_8, sizeof quirk_8},
    {"quirks/quirk-9.scenario", quirk_9, sizeof quirk_9},
    {"captures/live-2026-02.sse", live_2026_02, sizeof live_2026_02},
    {"Images/shelves/shelf-1-landscape-normal.jpg", shelf_1_landscape_normal, sizeof shelf_1_landscape_normal},
    {"Images/shelves/shelf-2-portrait-normal.jpg", shelf_2_portrait_normal, sizeof shelf_2_portrait_normal},
    {"Images/shelves/shelf-3-landscape-dark.jpg", shelf_3_landscape_dark, sizeof shelf_3_landscape_dark},
    {"Images/shelves/shelf-4-landscape-bright.jpg", shelf_4_landscape_bright, sizeof shelf_4_landscape_bright},
    {"Images/shelves/shelf-5-tall-hazy.jpg", shelf_5_tall_hazy, sizeof shelf_5_tall_hazy},
};

const char *shim_built_in_commit(void) { return SHIM_COMMIT; }

size_t shim_built_in_count(void) { return sizeof files / sizeof *files; }

struct shim_built_in_file shim_built_in_file(size_t index) { return files[index]; }
