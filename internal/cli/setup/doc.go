// Package setup has the operator's commands that need no cluster and no
// database: its certificates, its synonyms and its size.
package setup
