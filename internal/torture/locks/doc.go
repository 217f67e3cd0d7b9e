// Package locks tortures locks: worker processes take and leave them in every way there
// is, while workers, connections and servers are broken, and oracles judge the history.
package locks
