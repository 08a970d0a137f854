// Package delivery brings items to slaves. A Distributor follows the changes of items and the quanta of the
// mapper, asks for items to be built (Work), and puts them into bounded buckets, each of which is a half-open
// range of log positions (thesis 6.3.4 to 6.3.9, algorithm 3; docs/sources.md). Slaves fetch the buckets with
// Pull. There may be many distributors. Any of them may serve any slave, since the next bucket depends only on the
// slave's position and table, the changes after the position, and the model.
package delivery
