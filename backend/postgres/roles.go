package postgres

import _ "embed"

// Roles is SQL that creates roles with the least privileges: adshard_read for programs that only read,
// adshard_import, adshard_serve for the balancer, and adshard_collect for collectors.
//
//go:embed roles.sql
var Roles string
