// Package db has the operator's commands on databases of advertisers' data:
// import, checks, moves to another engine, backups.
package db
