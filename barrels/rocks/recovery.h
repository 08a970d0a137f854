#pragma once
#include <rocksdb/c.h>

#ifdef __cplusplus
extern "C" {
#endif

// adshard_no_recovery has a database with these options stay as it is after an error in the background.
void adshard_no_recovery(rocksdb_options_t *options);

// adshard_same_rocksdb says whether the headers are of the version that is linked.
int adshard_same_rocksdb(void);

#ifdef __cplusplus
}
#endif
