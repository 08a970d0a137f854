#pragma once
#include <rocksdb/c.h>

#ifdef __cplusplus
extern "C" {
#endif

// adshard_no_recovery has a database with these options stay as it is after an error in the background.
void adshard_no_recovery(rocksdb_options_t *options);

#ifdef __cplusplus
}
#endif
