// Configuration and context, and what UCX says while set-up calls fail.

#include "base.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <ucs/debug/log_def.h>

// status.go spells these numbers out, because it is also built without C.
_Static_assert(UCS_OK == 0 && UCS_INPROGRESS == 1 && UCS_ERR_NO_MESSAGE == -1, "status.go");
_Static_assert(UCS_ERR_UNREACHABLE == -6 && UCS_ERR_NO_DEVICE == -14, "status.go");
_Static_assert(UCS_ERR_CANCELED == -16 && UCS_ERR_CONNECTION_RESET == -25, "status.go");
_Static_assert(UCS_ERR_FIRST_LINK_FAILURE == -40 && UCS_ERR_ENDPOINT_TIMEOUT == -80, "status.go");
_Static_assert(UCP_ATOMIC_OP_ADD == 0 && UCP_ATOMIC_OP_SWAP == 1 && UCP_ATOMIC_OP_CSWAP == 2 &&
               UCP_ATOMIC_OP_AND == 3 && UCP_ATOMIC_OP_OR == 4 && UCP_ATOMIC_OP_XOR == 5, "types.go");
_Static_assert(UCP_FEATURE_RMA == 2 && UCP_FEATURE_AMO32 == 4 && UCP_FEATURE_AMO64 == 8 &&
               UCP_FEATURE_WAKEUP == 16 && UCP_FEATURE_AM == 64, "types.go");
_Static_assert(UCP_AM_SEND_FLAG_EAGER == 2 && UCP_AM_SEND_FLAG_RNDV == 4, "types.go");

// UCX explains failures of set-up calls in its log, on stdout, and returns a bare status. While a
// thread is inside a set-up call its warnings and errors are collected in gx_detail instead, so that the
// error that the caller gets can carry the explanation. All other messages go where they always went.

static _Thread_local char *gx_detail;

static ucs_log_func_rc_t gx_log(const char *file, unsigned line, const char *function,
                                ucs_log_level_t level, const ucs_log_component_config_t *component,
                                const char *format, va_list args)
{
    (void)file; (void)line; (void)function; (void)component;
    char *to = gx_detail;
    if (to == NULL || level > UCS_LOG_LEVEL_WARN) {
        return UCS_LOG_FUNC_RC_CONTINUE;
    }
    size_t used = strlen(to);
    if (used + 4 < GX_DETAIL) {
        if (used > 0) {
            memcpy(to + used, "; ", 3);
            used += 2;
        }
        va_list copy;
        va_copy(copy, args);
        vsnprintf(to + used, GX_DETAIL - used, format, copy);
        va_end(copy);
    }
    return UCS_LOG_FUNC_RC_STOP;
}

static void gx_log_install(void)
{
    ucs_log_push_handler(gx_log);
}

void gx_detail_begin(char *detail)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, gx_log_install);
    detail[0] = '\0';
    gx_detail = detail;
}

void gx_detail_end(void)
{
    gx_detail = NULL;
}

int32_t gx_config_read(const char *prefix, const char *file, ucp_config_t **config, char *detail)
{
    gx_detail_begin(detail);
    ucs_status_t status = ucp_config_read(prefix, file, config);
    gx_detail_end();
    return status;
}

int32_t gx_config_modify(ucp_config_t *config, const char *name, const char *value, char *detail)
{
    gx_detail_begin(detail);
    ucs_status_t status = ucp_config_modify(config, name, value);
    gx_detail_end();
    return status;
}

int32_t gx_config_print(const ucp_config_t *config, const char *title, int flags, char **text, size_t *len)
{
    GX_TEXT(text, len, ucp_config_print(config, stream, title, (ucs_config_print_flags_t)flags));
}

// gx_new_protocols reports whether a configuration chooses the protocols that are the default since UCX 1.16.
static int gx_new_protocols(const ucp_config_t *config)
{
    char *text = NULL;
    size_t len;
    if (gx_config_print(config, "", UCS_CONFIG_PRINT_CONFIG | UCS_CONFIG_PRINT_HIDDEN, &text, &len) != UCS_OK) {
        return 0;
    }
    int chosen = text != NULL && strstr(text, "UCX_PROTO_ENABLE=y\n") != NULL;
    free(text);
    return chosen;
}

// gx_context_create opens a context. With old_protocols, it has the protocols that were the default before UCX 1.16;
// the configuration is as before on return.
int32_t gx_context_create(uint64_t features, uint64_t endpoints, uint64_t per_node, const char *name,
                          int old_protocols, ucp_config_t *config, ucp_context_h *context, char *detail)
{
    ucp_params_t params = {
        .field_mask        = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED,
        .features          = features,
        .mt_workers_shared = 1, // goroutines on different threads use different workers of a context
    };
    if (endpoints > 0) {
        params.field_mask       |= UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
        params.estimated_num_eps = endpoints;
    }
    if (per_node > 0) {
        params.field_mask       |= UCP_PARAM_FIELD_ESTIMATED_NUM_PPN;
        params.estimated_num_ppn = per_node;
    }
    if (name != NULL) {
        params.field_mask |= UCP_PARAM_FIELD_NAME;
        params.name        = name;
    }
    int modified = old_protocols && gx_new_protocols(config);
    gx_detail_begin(detail);
    if (modified) {
        ucp_config_modify(config, "PROTO_ENABLE", "n");
    }
    ucs_status_t status = ucp_init(&params, config, context);
    if (modified) {
        ucp_config_modify(config, "PROTO_ENABLE", "y");
    }
    gx_detail_end();
    return status;
}

int32_t gx_context_print(ucp_context_h context, char **text, size_t *len)
{
    GX_TEXT(text, len, ucp_context_print_info(context, stream));
}
