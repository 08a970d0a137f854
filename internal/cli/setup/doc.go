// Package setup has the operator's commands that need no cluster and no database: for certificates, synonyms and the
// size of a cluster.
package setup
