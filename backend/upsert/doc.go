// Package upsert is the common part of the relational backends: the upserts of a backend.Tx (patches that are applied
// to the values of rows, natural keys), and a cache that finds out which rows of a transaction differ from the
// database, so that a repeated import writes nothing.
//
// Goals: backends contain only the SQL. Non-goals: SQL, locks, transactions.
package upsert
