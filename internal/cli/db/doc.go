// Package db has the operator's commands on databases of advertisers' data: imports, checks, moves to another
// database engine, backups.
package db
