// Package txns measures coordinators of distributed transactions.
//
// A [Workload] is measured on a [Subject]: Bedrock on one of its stores, a minimal
// coordinator that is the floor of what HTTP and the disk allow, a DTM server that
// somebody has started, or the floors themselves. Clients run in this process;
// coordinators, participants and database servers in others.
//
// [Suite] measures all subjects in turn, several times over, so that a noisy
// machine disturbs all alike, and takes medians.
package txns
