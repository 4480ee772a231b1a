"""What Peng, Gokhale and Green 2019 state in words and tables, with the section it stands in.

Figures are drawings without numbers: nothing was read off them.  `INPUT` marks what the machine
file or a device model was built from: agreement with it is none.
"""

INPUT = "input"

# --- Section 4.1: ns. ---
SEQUENTIAL_NS = {"dram": 79, "optane": 174}
RANDOM_NS = {"dram": 87, "optane": 302}
REMOTE_NS = (66, 85)  # what another socket adds
REMOTE_TIMES = (1.2, 1.8)

# --- Section 4.2: GB/s of one socket. ---
READ = {"dram": 104, "optane": 39}
OPTANE_WRITE = 12.1
MIXED_DRAM = (84.9, 98.7)
MIXED_OPTANE = (7.6, 21.6)
MIXED_GAP = (4.1, 12.5)
MEMORY_MODE_NT = (0.47, 0.64)  # of DRAM's bandwidth, in the two non-temporal patterns
MEMORY_MODE_OTHERS = (0.80, 0.88)
THREADS_OVER_REMOTE_DRAM = 14  # local Optane reads faster than remote DRAM from here on
REMOTE_MIXED = 1.0  # below
BANDWIDTH_OPTION, LATENCY_OPTION = 40, 5  # both sockets, data far beyond DRAM (Figs. 5 and 13)

# --- Section 4.3: watts of one socket's memory. ---
STATIC_WATTS, DRAM_WATTS = 38, 60
OPTANE_MIXED_WATTS = (2, 8)
OPTANE_LESS = (4, 29)  # times
EFFICIENCY_READ, EFFICIENCY_WRITE = 1.47, 0.80  # of Optane over DRAM
NT_EFFICIENCY_LOSS = 0.49  # of Memory Mode under DRAM
NT_MORE_WATTS = 0.13
STATIC_SHARE_1R1W = 0.95

# --- Section 4.4. ---
SLOWDOWN = (2, 18)
TC_SLOWDOWN = {"graphfrontier": 5.0, "graphdirect": 2.5}
BFS_SLOWDOWN = {"graphfrontier": 15.0, "graphdirect": 18.0}
INTERLEAVE_SPEEDUP = 2.0  # over PMM, about
GAP_AT_LARGEST = (2, 6)
SINGLE_SOCKET_LOSS = 0.20  # two sockets gain less than this on small problems

# --- Section 5: both sockets, GB/s and GB. ---
PEAK = {"dram": 204, "optane": 78}
SPILLED = (76, 97)  # above 1 TB
SPILLING_GAIN, SPILLING_MORE_DATA = 2.0, 0.20
LARGEST = {"spilling": 1540, "memory-mode": 1280}
MODEL_SHARE = 0.95  # the project's own goal, of the model's bandwidth
ISOLATED, MEMORY_MODE_COPY = 83, 27
ISOLATION_GAIN = 3.1
MEMORY_MODE_OF_DRAM = (0.46, 0.89)  # at medium sizes
ISOLATION_AHEAD_FROM = 32  # GB
LESS_ENERGY = {"MemoryMode": 3.9, "PMM": 8.4}
CPU_SHARE = (0.55, 0.74)  # of Memory Mode's energy, at the smallest and the largest size

# --- Section 5.3: watts. ---
ALL_DRAM_WATTS, ALL_OPTANE_WATTS = 95, 54  # of one socket's memory, at 2^-3 flops a byte
LESS_POWER = 1.8
PLATFORM_WATTS, PLATFORM_GAP, TEN_PERCENT_SAVES = 480, 125, 40
RIDGE = (1, 2)  # flops a byte
