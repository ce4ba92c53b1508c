"""A cart on rails, to be replaced by your simulator."""

from broccoli_system import RUNNING, serve


class Cart:
    name = "@NAME@"
    observations = ["position", "speed"]
    actions = {"back": -0.1, "forth": 0.1}  # the names in the tree, and values for your own use
    come_back = "stateless"  # or "snapshot" or "reset": see broccoli_system.py
    state = 2  # values of a state
    initial = 1  # values of an initial state
    verdicts = False  # the problem file says when a run is satisfied
    # rewards = True  # for kind = "return": step then returns a reward, too, as the last value

    def reset(self, initial):
        return self.reply([initial[0], 0.0])

    def step(self, state, action):
        position, speed = state
        speed += [-0.1, 0.1][action]
        return self.reply([position + speed, speed])

    def reply(self, state):
        # What the tree sees, the verdict, and the state to go on from. Here all of it is seen.
        return state, RUNNING, state


serve(Cart())
